import { once } from 'node:events';
import { Readable } from 'node:stream';
import { expect, test } from 'vitest';
import { z } from 'zod';
import { TimeUpError } from '../../../src/agent/clock.ts';
import { RetryableError } from '../../../src/errors.ts';
import { SandboxFullError } from '../../../src/sandbox/sandbox.ts';
import { createToolbox } from '../../services/redactor.ts';
import { call } from './calling.ts';
import { createFakeSource, fakeTool, json, text } from './fake-source.ts';
import { createMemorySandbox } from './memory-sandbox.ts';

test('an answer goes to the file that was named, and only its size comes back', async () => {
  const { toolbox, sandbox } = createScene();

  const outcome = await call(toolbox, 'fetch_to_sandbox', {
    tool: 'farm_get_log',
    args: { run_id: 7 },
    path: '/tmp/data/logs/run.log',
  });

  expect(outcome).toEqual({ result: { saved_to: '/tmp/data/logs/run.log', bytes: 9 }, isError: false });
  expect(String(sandbox.files.get('/tmp/data/logs/run.log'))).toBe('log of 7\n');
});

test.each([
  ['fetch_to_sandbox', 1_024],
  ['fetch_batch_to_sandbox', 512],
])('%s shows the shape of JSON, in no more than %i bytes, and nothing of a text', async (name, maxBytes) => {
  const value = Object.fromEntries(Array.from({ length: 200 }, (_, n) => [`key_${n}`, { n }]));
  const wide = fakeTool('farm_wide', z.strictObject({}), () => json(value));
  const log = fakeTool('farm_log', z.strictObject({}), () => text('{"looks": "like JSON"}'));
  const sources = [createFakeSource('farm', [wide, log])];
  const toolbox = createToolbox({ sandbox: createMemorySandbox(), sources });
  const fetch = async (tool: string) => {
    const { result } = await call(
      toolbox,
      name,
      name === 'fetch_to_sandbox' ? { tool } : { requests: [{ tool }] },
    );
    return Array.isArray(result.results) ? result.results[0] : result;
  };

  const { shape } = await fetch('farm_wide');

  expect(shape).toMatch(/^\{\n key_0: .*… \d+ more keys\n\}$/s);
  expect(Buffer.byteLength(shape)).toBeLessThanOrEqual(maxBytes);
  expect(Buffer.byteLength(shape)).toBeGreaterThan(maxBytes - 30);
  expect(await fetch('farm_log')).toEqual({ saved_to: '/tmp/data/farm_log-1.txt', bytes: 22 });
});

test.each([
  [1, 4_096],
  [8, 2_048],
  [50, 1_000],
])(
  'of %i logs fetched together each shows what explains its failure, in %i bytes at most',
  async (count, maxBytes) => {
    const noise = Array.from({ length: 2_000 }, (_, at) => `step ${at} took ${at} ms`);
    const log = fakeTool('farm_log', z.strictObject({ at: z.int() }), async ({ at }) => ({
      kind: 'text',
      of: 'log',
      body: [...noise, `Error: disk ${at} is full`, ...noise].join('\n'),
    }));
    const toolbox = createToolbox({
      sandbox: createMemorySandbox(),
      sources: [createFakeSource('farm', [log])],
    });
    const requests = Array.from({ length: count }, (_, at) => ({ tool: 'farm_log', args: { at } }));

    const { result } = await call(toolbox, 'fetch_batch_to_sandbox', { requests });

    const results = result.results as { saved_to: string; evidence: string }[];
    for (const [at, { evidence, saved_to }] of results.entries()) {
      expect(evidence).toContain(`all is in ${saved_to}]\n`);
      expect(evidence).toContain(`\n2001|Error: disk ${at} is full\n`);
      expect(Buffer.byteLength(evidence)).toBeLessThanOrEqual(maxBytes);
    }
    expect(results).toHaveLength(count);
  },
);

test('without a name it gets one that nothing has, by what it is', async () => {
  const { toolbox, sandbox } = createScene();
  await sandbox.writeFile('/tmp/data/farm_get_log-4.txt', 'from before');

  const log = await call(toolbox, 'fetch_to_sandbox', { tool: 'farm_get_log', args: { run_id: 7 } });
  const runs = await call(toolbox, 'fetch_to_sandbox', { tool: 'farm_list_runs' });

  expect(log.result.saved_to).toBe('/tmp/data/farm_get_log-5.txt');
  expect(runs.result.saved_to).toBe('/tmp/data/farm_list_runs-6.json');
  expect(JSON.parse(String(sandbox.files.get('/tmp/data/farm_list_runs-6.json')))).toEqual([{ id: 7 }]);
});

test.each(['/etc/passwd', '/tmp/data/../x', '/tmp/data', '/tmp/database/x', '../_out', 'a\0b'])(
  'a file is not written to %j',
  async (path) => {
    const { toolbox, sandbox } = createScene();

    const outcome = await call(toolbox, 'fetch_to_sandbox', { tool: 'farm_list_runs', path });

    expect(outcome).toMatchObject({
      isError: true,
      result: { error: expect.stringContaining('must be a file below') },
    });
    expect(sandbox.files.size).toBe(0);
  },
);

test.each(['/tmp/_out/mine.json', 'mine.json', '/tmp/data/./a//mine.json'])('%j is fine', async (path) => {
  const { toolbox, sandbox } = createScene();

  const { result } = await call(toolbox, 'fetch_to_sandbox', { tool: 'farm_list_runs', path });

  expect([...sandbox.files.keys()]).toEqual([result.saved_to]);
  expect(result.saved_to).toMatch(/^\/tmp\/(?:data|_out)\/(?:a\/)?mine\.json$/);
});

test('what is no data source can not be fetched, the fetching tools least of all', async () => {
  const { toolbox } = createScene();

  for (const tool of ['sandbox_exec', 'fetch_to_sandbox', 'nonsense']) {
    const { result, isError } = await call(toolbox, 'fetch_to_sandbox', { tool });
    expect(isError).toBe(true);
    expect(result.error).toContain(`${tool} is not a data source`);
    expect(result.right_calls).toContain('farm_get_log {"run_id":123}');
  }
});

test('wrong arguments of the inner call are told like those of an outer one', async () => {
  const { toolbox } = createScene();

  const outcome = await call(toolbox, 'fetch_to_sandbox', { tool: 'farm_get_log', args: { run: 7 } });

  expect(outcome).toEqual({
    isError: true,
    result: {
      error: expect.stringMatching(/^farm_get_log .*run_id/),
      right_call: 'farm_get_log {"run_id":123}',
    },
  });
});

test('a batch answers in the order of its requests, and one failure spoils no other', async () => {
  const { toolbox, sandbox } = createScene();

  const { result, isError } = await call(toolbox, 'fetch_batch_to_sandbox', {
    requests: [
      { tool: 'farm_get_log', args: { run_id: 1 }, path: 'one.log' },
      { tool: 'farm_broken' },
      { tool: 'nonsense' },
      { tool: 'farm_get_log', args: {} },
      { tool: 'farm_get_log', args: { run_id: 2 }, path: '/tmp/data/one.log' },
      { tool: 'farm_list_runs', path: '/etc/x' },
      { tool: 'farm_get_log', args: { run_id: 333 }, path: 'three.log' },
    ],
  });

  expect(isError).toBe(false);
  expect(result.results).toEqual([
    { saved_to: '/tmp/data/one.log', bytes: 9 },
    { error: expect.stringMatching(/^farm_broken: the farm is away \(/) },
    { error: expect.stringContaining('nonsense'), right_calls: expect.any(Array) },
    { error: expect.stringContaining('run_id'), right_call: 'farm_get_log {"run_id":123}' },
    { error: expect.stringContaining('same path as request 0') },
    { error: expect.stringContaining('/etc/x'), right_path: expect.any(String) },
    { saved_to: '/tmp/data/three.log', bytes: 11 },
  ]);
  expect(String(sandbox.files.get('/tmp/data/one.log'))).toBe('log of 1\n');
});

test('a batch names its files in the order of its requests, whichever answer comes first', async () => {
  const answered = Promise.withResolvers<void>();
  const log = fakeTool('farm_log', z.strictObject({ id: z.int() }), async ({ id }) => {
    if (id === 2) answered.resolve();
    await answered.promise;
    return json(id);
  });
  const sandbox = createMemorySandbox();
  const lists = [30, 20, 10];
  const slow = {
    ...sandbox,
    async list(folder: string) {
      await new Promise((resolve) => setTimeout(resolve, lists.shift()));
      return sandbox.list(folder);
    },
  };
  const toolbox = createToolbox({ sandbox: slow, sources: [createFakeSource('farm', [log])] });

  const requests = [0, 1, 2].map((id) => ({ tool: 'farm_log', args: { id } }));
  const { result } = await call(toolbox, 'fetch_batch_to_sandbox', { requests });

  expect(result.results).toEqual(
    [0, 1, 2].map((id) => ({ saved_to: `/tmp/data/farm_log-${id}.json`, bytes: 2, shape: `${id}` })),
  );
});

test('of two calls at the same time for one file the second is refused, and one after them is not', async () => {
  const { toolbox } = createScene();
  const fetch = (run_id: number) =>
    call(toolbox, 'fetch_to_sandbox', { tool: 'farm_get_log', args: { run_id }, path: 'one.log' });
  const [first, second] = await Promise.all([fetch(1), fetch(2)]);
  const third = await fetch(333);

  expect(first?.result).toEqual({ saved_to: '/tmp/data/one.log', bytes: 9 });
  expect(second?.result).toEqual({
    error: '/tmp/data/one.log is just being written by another call',
  });
  expect(third.result).toEqual({ saved_to: '/tmp/data/one.log', bytes: 11 });
});

test('a batch in which nothing worked is an error', async () => {
  const { toolbox } = createScene();

  const { result, isError } = await call(toolbox, 'fetch_batch_to_sandbox', {
    requests: [{ tool: 'farm_broken' }],
  });

  expect(isError).toBe(true);
  expect(result).toMatchObject({ error: expect.any(String), results: [{ error: expect.any(String) }] });
});

test('a batch runs six requests at the same time and no more', async () => {
  let running = 0;
  let most = 0;
  const slow = fakeTool('farm_slow', z.strictObject({}), async () => {
    running += 1;
    most = Math.max(most, running);
    await new Promise((resolve) => setTimeout(resolve, 5));
    running -= 1;
    return json({});
  });
  const sandbox = createMemorySandbox();
  const toolbox = createToolbox({ sandbox, sources: [createFakeSource('farm', [slow])] });

  const requests = Array.from({ length: 20 }, () => ({ tool: 'farm_slow' }));
  await call(toolbox, 'fetch_batch_to_sandbox', { requests });

  expect(most).toBe(6);
  expect(sandbox.files.size).toBe(20);
});

test('an aborted batch throws the reason and starts nothing more', async () => {
  const controller = new AbortController();
  const reason = new Error('cancelled');
  let started = 0;
  const stuck = fakeTool('farm_stuck', z.strictObject({}), async (_args, signal) => {
    started += 1;
    if (started === 1) return json('done before the abort');
    if (started === 7) controller.abort(reason);
    signal.throwIfAborted();
    return text(Readable.from(untilAborted(signal)));
  });
  const toolbox = createToolbox({
    sandbox: createMemorySandbox(),
    sources: [createFakeSource('farm', [stuck])],
  });

  const requests = Array.from({ length: 20 }, () => ({ tool: 'farm_stuck' }));
  const running = call(toolbox, 'fetch_batch_to_sandbox', { requests }, controller.signal);

  await expect(running).rejects.toBe(reason);
  expect(started).toBe(7);
});

test('a batch whose time is up answers with what is done', async () => {
  const controller = new AbortController();
  const log = fakeTool('farm_log', z.strictObject({ id: z.int() }), async ({ id }, signal) => {
    if (id === 0) return json('done');
    controller.abort(new TimeUpError('the time for this run is over'));
    return text(Readable.from(untilAborted(signal)));
  });
  const sources = [createFakeSource('farm', [log])];
  const toolbox = createToolbox({
    sandbox: createMemorySandbox(),
    sources,
    limits: { maxParallelFetches: 1 },
  });

  const requests = [0, 1, 2].map((id) => ({ tool: 'farm_log', args: { id } }));
  const { result } = await call(toolbox, 'fetch_batch_to_sandbox', { requests }, controller.signal);

  expect(result.results).toEqual([
    { saved_to: '/tmp/data/farm_log-0.json', bytes: 7, shape: '"done"' },
    { error: expect.stringContaining('the time for this run is over') },
    { error: expect.stringContaining('the time for this run is over') },
  ]);
});

test('a stream that the sandbox does not take is let go', async () => {
  const body = new Readable({ read: () => undefined });
  const closed = once(body, 'close');
  const log = fakeTool('farm_log', z.strictObject({}), () => text(body));
  const full = {
    ...createMemorySandbox(),
    writeFile: () => Promise.reject(new SandboxFullError('No room.')),
  };
  const toolbox = createToolbox({ sandbox: full, sources: [createFakeSource('farm', [log])] });

  const { result, isError } = await call(toolbox, 'fetch_to_sandbox', { tool: 'farm_log' });

  expect(isError).toBe(true);
  expect(result.error).toMatch(/^fetch_to_sandbox: No room\. .*remove files/);
  await closed;
});

function createScene() {
  const sandbox = createMemorySandbox();
  const source = createFakeSource('farm', [
    fakeTool('farm_get_log', z.strictObject({ run_id: z.int() }), ({ run_id }) =>
      text(Readable.from([`log of ${run_id}`, '\n'])),
    ),
    fakeTool('farm_list_runs', z.strictObject({}), () => json([{ id: 7 }])),
    fakeTool('farm_broken', z.strictObject({}), () => Promise.reject(new RetryableError('the farm is away'))),
  ]);
  return { sandbox, toolbox: createToolbox({ sandbox, sources: [source] }) };
}

async function* untilAborted(signal: AbortSignal) {
  yield 'a beginning';
  while (!signal.aborted) await new Promise((resolve) => setImmediate(resolve));
  throw signal.reason;
}
