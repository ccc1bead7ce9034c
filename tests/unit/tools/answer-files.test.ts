import { createHash } from 'node:crypto';
import { Readable } from 'node:stream';
import { expect, test } from 'vitest';
import { z } from 'zod';
import { createToolbox } from '../../services/redactor.ts';
import { callWhole } from './calling.ts';
import { createFakeSource, fakeTool, json } from './fake-source.ts';
import { createMemorySandbox } from './memory-sandbox.ts';

const LOG = 'a line of a long log\n'.repeat(2_000);
const ids = z.strictObject({ id: z.int() });
const getLog = fakeTool('farm_get_log', ids, async () => ({
  kind: 'text',
  of: 'log',
  body: Readable.from([Buffer.from(LOG)]),
}));
const getRun = fakeTool('farm_get_run', ids, ({ id }) => json({ id, text: 'x'.repeat(id) }));

function arrange() {
  const sandbox = createMemorySandbox({ stdout: LOG });
  const toolbox = createToolbox({ sandbox, sources: [createFakeSource('farm', [getLog, getRun])] });
  const hashOf = (path: string) =>
    createHash('sha256')
      .update(sandbox.files.get(path) ?? '')
      .digest('hex');
  return { sandbox, toolbox, hashOf };
}

test.each([
  ['fetch_to_sandbox', { tool: 'farm_get_log', args: { id: 7 }, path: '/tmp/data/a.log' }, 'log'],
  ['fetch_to_sandbox', { tool: 'farm_get_run', args: { id: 7 } }, 'json'],
  ['fetch_batch_to_sandbox', { requests: [{ tool: 'farm_get_log', args: { id: 7 } }] }, 'log'],
  ['farm_get_log', { id: 7 }, 'log'],
  ['farm_get_run', { id: 9_000 }, 'json'],
])('%s %j remembers the file, its hash and whose answer it is', async (name, args, kind) => {
  const { toolbox, sandbox, hashOf } = arrange();
  const { files = [] } = await callWhole(toolbox, name, args);
  const [path = ''] = [...sandbox.files.keys()];
  expect(files).toEqual([
    {
      ...{ path, sha256: hashOf(path), bytes: sandbox.files.get(path)?.length, kind },
      tool: expect.stringMatching(/^farm_/),
      args: { id: expect.any(Number) },
    },
  ]);
});

test("an answer inline is marked as the source's, what a command printed is not, nor its file", async () => {
  const { toolbox, sandbox } = arrange();
  expect(await callWhole(toolbox, 'farm_get_run', { id: 7 })).toMatchObject({ isSourced: true });
  const printed = await callWhole(toolbox, 'sandbox_exec', { command: 'cat x' });
  expect(sandbox.files.size).toBe(1);
  expect(printed.isSourced).toBeUndefined();
  expect(printed.files).toBeUndefined();
});

test("an error is nobody's answer", async () => {
  const { toolbox } = arrange();
  expect((await callWhole(toolbox, 'farm_get_run', { id: 'FATAL: on fire' })).isSourced).toBeUndefined();
});
