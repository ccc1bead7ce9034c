import { Readable } from 'node:stream';
import { expect, test } from 'vitest';
import { z } from 'zod';
import { NotFoundError, RetryableError } from '../../../src/errors.ts';
import type { SourceAnswer } from '../../../src/sources/source.ts';
import { createToolbox } from '../../services/redactor.ts';
import { call } from './calling.ts';
import { createFakeSource, fakeTool, json, text } from './fake-source.ts';
import { createMemorySandbox } from './memory-sandbox.ts';

test('what a source could not give is a gap, named once', async () => {
  const toolbox = withTool(async () => {
    throw new RetryableError('GitLab answered 502');
  });

  await call(toolbox, 'farm_get_log', { id: 7 });
  await call(toolbox, 'fetch_to_sandbox', { tool: 'farm_get_log', args: { id: 7 } });

  expect(toolbox.gaps()).toEqual(['farm_get_log {"id":7}']);
});

test('a log that breaks off half way is a gap', async () => {
  const toolbox = withTool(() =>
    text(
      Readable.from(
        (async function* () {
          yield Buffer.from('half');
          throw new RetryableError('the connection was lost');
        })(),
      ),
    ),
  );

  await call(toolbox, 'fetch_to_sandbox', { tool: 'farm_get_log', args: { id: 7 } });

  expect(toolbox.gaps()).toEqual(['farm_get_log {"id":7}']);
});

test('a call that works in the end leaves no gap, nor does an id that does not exist', async () => {
  const failures: unknown[] = [new RetryableError('busy'), null, new NotFoundError('404')];
  const toolbox = withTool(() => {
    const failure = failures.shift();
    return failure ? Promise.reject(failure) : json('ok');
  });

  await call(toolbox, 'farm_get_log', { id: 7 });
  await call(toolbox, 'farm_get_log', { id: 7 });
  await call(toolbox, 'farm_get_log', { id: 8 });

  expect(failures).toEqual([]);
  expect(toolbox.gaps()).toEqual([]);
});

test('gaps of a batch are named in the order of its requests, whichever fails first', async () => {
  const failed = Promise.withResolvers<void>();
  const toolbox = withTool(async ({ id }) => {
    if (id === 3) failed.resolve();
    await failed.promise;
    // The one that let the others go is done before them.
    if (id !== 3) await new Promise((resolve) => setImmediate(resolve));
    throw new RetryableError('busy');
  });

  const requests = [1, 2, 3].map((id) => ({ tool: 'farm_get_log', args: { id } }));
  await call(toolbox, 'fetch_batch_to_sandbox', { requests });

  expect(toolbox.gaps()).toEqual([1, 2, 3].map((id) => `farm_get_log {"id":${id}}`));
});

test('a part that is missing of an answer is a gap until the same call brings it', async () => {
  const gaps = [['the archive: 503'], []];
  const toolbox = withTool(async () => ({ kind: 'json', value: 'most', gaps: gaps.shift() ?? [] }));

  expect(await call(toolbox, 'farm_get_log', { id: 7 })).toMatchObject({ isError: false });
  expect(toolbox.gaps()).toEqual(['farm_get_log {"id":7}, in part: the archive: 503']);

  await call(toolbox, 'farm_get_log', { id: 7 });
  expect(toolbox.gaps()).toEqual([]);
});

function withTool(read: (args: { id: number }) => Promise<SourceAnswer>) {
  const tool = fakeTool('farm_get_log', z.strictObject({ id: z.int() }), read);
  return createToolbox({ sandbox: createMemorySandbox(), sources: [createFakeSource('farm', [tool])] });
}
