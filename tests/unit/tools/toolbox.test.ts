import { expect, test } from 'vitest';
import { z } from 'zod';
import { createToolbox } from '../../services/redactor.ts';
import { call } from './calling.ts';
import { createFakeSource, fakeTool, json } from './fake-source.ts';
import { createMemorySandbox } from './memory-sandbox.ts';

const getRun = fakeTool(
  'farm_get_run',
  z.strictObject({ run_id: z.int(), verbose: z.boolean().optional() }),
  json,
);
const listRuns = fakeTool('farm_list_runs', z.strictObject({}), json);
const ping = fakeTool('moon_ping', z.strictObject({}), json);
const sources = [createFakeSource('farm', [listRuns, getRun]), createFakeSource('moon', [ping])];

test('the model is shown the sandbox tools, then those of the sources in their order', () => {
  const { definitions } = createToolbox({ sandbox: createMemorySandbox(), sources });

  expect(definitions.map(({ name }) => name)).toEqual([
    'sandbox_exec',
    'fetch_to_sandbox',
    'fetch_batch_to_sandbox',
    'farm_list_runs',
    'farm_get_run',
    'moon_ping',
  ]);
  expect(definitions).toEqual(createToolbox({ sandbox: createMemorySandbox(), sources }).definitions);
});

test('a workflow may allow only some of them', async () => {
  const toolbox = createToolbox({
    sandbox: createMemorySandbox(),
    sources,
    allowed: ['sandbox_exec', 'fetch_to_sandbox', 'farm_*'],
  });

  expect(toolbox.definitions.map(({ name }) => name)).toEqual([
    'sandbox_exec',
    'fetch_to_sandbox',
    'farm_list_runs',
    'farm_get_run',
  ]);
  expect((await call(toolbox, 'moon_ping', {})).isError).toBe(true);
  expect((await call(toolbox, 'fetch_to_sandbox', { tool: 'moon_ping', args: {} })).isError).toBe(true);
});

test('a definition carries the JSON Schema of the arguments', () => {
  const { definitions } = createToolbox({ sandbox: createMemorySandbox(), sources });

  expect(definitions.find(({ name }) => name === 'farm_get_run')).toMatchObject({
    description: 'What farm_get_run is for.',
    inputSchema: {
      type: 'object',
      properties: { run_id: { type: 'integer' }, verbose: { type: 'boolean' } },
      required: ['run_id'],
      additionalProperties: false,
    },
  });
  const exec = definitions.find(({ name }) => name === 'sandbox_exec');
  expect(exec?.inputSchema).toMatchObject({
    required: ['command'],
    properties: { timeout_seconds: { maximum: 120 } },
  });
});

test('the notes are those of the tools and of every source', () => {
  const { notes } = createToolbox({ sandbox: createMemorySandbox(), sources });

  expect(notes).toMatch(/fetch_batch_to_sandbox.*Notes of farm\..*Notes of moon\./s);
});

test.each([
  ['farm_get_run', { run_id: 'seven' }, /run_id: .*expected number/, 'farm_get_run {"run_id":123}'],
  ['farm_get_run', {}, /run_id/, 'farm_get_run {"run_id":123}'],
  ['farm_list_runs', { project: 'other/project' }, /project/, 'farm_list_runs {}'],
  ['sandbox_exec', { cmd: 'ls' }, /command.*cmd/, expect.stringMatching(/^sandbox_exec \{"command":"grep/)],
  [
    'sandbox_exec',
    { command: 'ls', timeout_seconds: 1e6 },
    /timeout_seconds/,
    expect.stringContaining('command'),
  ],
  ['fetch_to_sandbox', {}, /tool/, expect.stringMatching(/^fetch_to_sandbox \{"tool":/)],
  ['fetch_batch_to_sandbox', { requests: [] }, /requests/, expect.stringContaining('"requests":[{"tool"')],
])(
  '%s called with %j is told what is wrong and shown a right call',
  async (name, args, problem, rightCall) => {
    const sandbox = createMemorySandbox();
    const { result, isError } = await call(createToolbox({ sandbox, sources }), name, args);

    expect(isError).toBe(true);
    expect(result).toEqual({ error: expect.stringMatching(problem), right_call: rightCall });
    expect(sandbox.ran).toEqual([]);
  },
);

test('a tool that does not exist is answered with those that do', async () => {
  const { result, isError } = await call(
    createToolbox({ sandbox: createMemorySandbox(), sources }),
    'farm_get_runs',
  );

  expect(isError).toBe(true);
  expect(result.error).toBe('There is no tool farm_get_runs');
  expect(result.right_calls).toContain('farm_get_run {"run_id":123}');
  expect(result.right_calls).toHaveLength(6);
});

test('two tools of one name are a mistake that is found at once', () => {
  const twice = [createFakeSource('moon', [ping]), createFakeSource('moon', [ping])];

  expect(() => createToolbox({ sandbox: createMemorySandbox(), sources: twice })).toThrow(/same name/);
});
