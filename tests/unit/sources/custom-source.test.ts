// The example of the documentation, as it is written there.
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, expect, onTestFinished, test } from 'vitest';
import { createHttpReader, type HttpReader } from '../../../src/http/http-reader.ts';
import type { Source } from '../../../src/sources/source.ts';
import { createToolbox } from '../../services/redactor.ts';
import { answerJson, createFakeClock, startServer } from '../gitlab/gitlab-server.ts';
import { call } from '../tools/calling.ts';
import { createMemorySandbox } from '../tools/memory-sandbox.ts';

const SRC = join(import.meta.dirname, '../../../src');
const ARGS = { since: '2026-05-01T00:00:00Z' };

let createStatusSource: (page: HttpReader) => Source;

beforeAll(async () => {
  const page = readFileSync(join(SRC, '../docs/custom-source.md'), 'utf8');
  const code = /```ts\n(.*?)```/s.exec(page)?.[1] ?? '';
  // Below the project, where packages are found, and two folders deep, as the example is in src.
  const folder = mkdtempSync(join(import.meta.dirname, '.example-'));
  mkdirSync(join(folder, 'status'));
  const file = join(folder, 'status/source.ts');
  writeFileSync(file, code.replaceAll("'../../", `'${SRC}/`).replaceAll("'../", `'${SRC}/sources/`));
  try {
    ({ createStatusSource } = await import(file));
  } finally {
    rmSync(folder, { recursive: true });
  }
});

test('the example is a source: it can be called, and fetched into a file', async () => {
  const { toolbox, sandbox } = await attach((response) =>
    answerJson(response, {
      incidents: [
        { name: 'Disk full', status: 'resolved', created_at: '2026-05-02T08:00:00Z' },
        { name: 'Old', status: 'resolved', created_at: '2026-04-01T08:00:00Z' },
      ],
    }),
  );

  const direct = await call(toolbox, 'status_list_incidents', ARGS);
  await call(toolbox, 'fetch_to_sandbox', { tool: 'status_list_incidents', args: ARGS, path: 'i.json' });
  const wrong = await call(toolbox, 'status_list_incidents', { since: 'yesterday' });

  expect(direct.result).toEqual({
    result: { incidents: [{ name: 'Disk full', status: 'resolved', began: '2026-05-02T08:00:00Z' }] },
  });
  expect(sandbox.files.get('/tmp/data/i.json')?.toString()).toContain('Disk full');
  expect(wrong.result.error).toContain('wrong arguments');
  expect(toolbox.notes).toContain('## Data source: status');
});

test('an answer without end is given up', async () => {
  const { toolbox } = await attach((response) => {
    response.writeHead(200, { 'content-type': 'application/json' });
    return response.end(`{"incidents":[],"pad":"${'x'.repeat(20_000)}"}`);
  });

  const { result } = await call(toolbox, 'status_list_incidents', ARGS);

  expect(result.error).toContain('was answered with more than 10000 bytes');
  expect(toolbox.gaps()).toHaveLength(1);
});

test.each([
  [503, 'was answered 503'],
  [403, 'the token lacks a scope'],
  [200, 'has an unknown form'],
])('what it can not read (%i) is a named gap', async (status, words) => {
  const { toolbox } = await attach((response) => answerJson(response, { surprise: true }, { status }));

  const { result } = await call(toolbox, 'status_list_incidents', ARGS);

  expect(result.error).toMatch(/^status_list_incidents: /);
  expect(result.error).toContain(words);
  expect(toolbox.gaps()).toHaveLength(1);
});

async function attach(answer: (response: Parameters<typeof answerJson>[0]) => unknown) {
  const { url } = await startServer((_, response) => answer(response));
  const sandbox = createMemorySandbox();
  onTestFinished(() => sandbox.close());
  const clock = createFakeClock();
  const page = createHttpReader({ who: 'the status page', url, clock, maxJsonBytes: 10_000 });
  onTestFinished(() => page.close());
  return { sandbox, toolbox: createToolbox({ sandbox, sources: [createStatusSource(page)] }) };
}
