import { once } from 'node:events';
import { Readable } from 'node:stream';
import { expect, test } from 'vitest';
import { z } from 'zod';
import type { PassingLog, TextAnswer } from '../../../src/sources/source.ts';
import { createLogPreview, type LogPreviewOptions } from '../../../src/tools/log-preview.ts';
import { createToolbox } from '../../services/redactor.ts';
import { call } from './calling.ts';
import { createFakeSource, fakeTool } from './fake-source.ts';
import { createMemorySandbox } from './memory-sandbox.ts';

const LINE = 'ERROR: theme is not loaded\n';
const LARGE = LINE.repeat(2_000);

test.each([
  ['farm_log', {}],
  ['fetch_to_sandbox', { tool: 'farm_log' }],
])('%s looks for a passing log only if the log is too large to be shown', async (name, args) => {
  let searches = 0;
  const findPassing = async () => {
    searches += 1;
    return null;
  };

  await call(createLogToolbox({ body: LINE.repeat(100), findPassing }), name, args);
  expect(searches).toBe(0);

  await call(createLogToolbox({ body: LARGE, findPassing }), name, args);
  expect(searches).toBe(1);
});

test('the passing log is looked for while the log is still being read', async () => {
  const asked = Promise.withResolvers<void>();
  const body = Readable.from(
    (async function* () {
      yield Buffer.from(LARGE);
      await asked.promise;
      yield Buffer.from('the end\n');
    })(),
  );
  const findPassing = async () => {
    asked.resolve();
    return { name: 'job 7', body: Readable.from([Buffer.from(LINE)]) };
  };

  const { result } = await call(createLogToolbox({ body, findPassing }), 'farm_log');

  expect(result.preview).toMatch(/compared with job 7; .*the end$/s);
});

test.each([
  ['a search that does not end', async () => new Promise<PassingLog>(() => undefined)],
  ['a log that does not end', async () => ({ name: 'job 7', body: new Readable({ read() {} }) })],
])('%s is given up soon after the log itself has ended', async (_, findPassing) => {
  const preview = createPreview({ findPassing, patienceMs: 20 });
  preview.add(Buffer.from(LARGE));

  expect(await preview.toText('all is in x')).toMatch(/^\[lines that [^;]*; all is in x\]\n1\|ERROR/);
});

test('what is given up is told so, and its stream destroyed, even one that comes later', async () => {
  const { promise: found, resolve: find } = Promise.withResolvers<PassingLog>();
  const body = new Readable({ read() {} });
  let asked: AbortSignal | undefined;
  const findPassing = (signal: AbortSignal) => {
    asked = signal;
    return found;
  };
  const preview = createPreview({ findPassing, patienceMs: 20 });
  preview.add(Buffer.from(LARGE));
  await preview.toText('all is in x');
  expect(asked?.aborted).toBe(true);

  const closed = once(body, 'close').catch(() => undefined);
  find({ name: 'job 7', body });
  await closed;
  expect(body.destroyed).toBe(true);
});

test('a log that breaks off takes the passing one with it', async () => {
  const passing = new Readable({ read() {} });
  const closed = new Promise((resolve) => passing.once('close', resolve));
  const opened = Promise.withResolvers<void>();
  const body = Readable.from(
    (async function* () {
      yield Buffer.from(LARGE);
      await opened.promise;
      throw new Error('cut');
    })(),
  );
  const findPassing = async () => {
    opened.resolve();
    return { name: 'job 7', body: passing };
  };

  const { isError } = await call(createLogToolbox({ body, findPassing }), 'fetch_to_sandbox', {
    tool: 'farm_log',
  });

  expect(isError).toBe(true);
  await closed;
});

test('of a passing log the first 64 MB are read', async () => {
  const megabyte = Buffer.alloc(1024 * 1024, LINE);
  let read = 0;
  const body = Readable.from(
    (async function* () {
      for (;;) {
        read += 1;
        yield megabyte;
      }
    })(),
    { highWaterMark: 1 },
  );
  const preview = createPreview({ findPassing: async () => ({ name: 'job 7', body }) });
  preview.add(Buffer.from(LARGE));

  expect(await preview.toText('all is in x')).toContain('compared with job 7');
  expect(read).toBeLessThan(70);
});

function createPreview(options: Pick<LogPreviewOptions, 'findPassing' | 'patienceMs'>) {
  return createLogPreview({ maxBytes: 4_096, signal: new AbortController().signal, ...options });
}

function createLogToolbox(log: Pick<TextAnswer, 'body' | 'findPassing'>) {
  const tool = fakeTool('farm_log', z.strictObject({}), async () => ({ kind: 'text', of: 'log', ...log }));
  return createToolbox({ sandbox: createMemorySandbox(), sources: [createFakeSource('farm', [tool])] });
}
