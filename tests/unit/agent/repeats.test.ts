import { describe, expect, test } from 'vitest';
import { createCompaction } from '../../../src/agent/compaction.ts';
import { createRepeatGuard } from '../../../src/agent/repeats.ts';
import { run, typesOf } from './run-loop.ts';
import { scriptedTools } from './scripted.ts';

const call = (at: string) => ({ calls: [{ name: 'look', arguments: { at } }] });
const long = { maxIterations: 100, contextLimit: 1_000_000 };

describe('a model that goes in circles', () => {
  test.each([
    ['makes the same call 60 times', () => call('a'), 3],
    ['makes two calls in turn', (index: number) => call(index % 2 === 0 ? 'a' : 'b'), 6],
    ['makes three calls in turn', (index: number) => call('abc'[index % 3] ?? ''), 9],
    ['makes eleven calls in turn', (index: number) => call('abcdefghijk'[index % 11] ?? ''), 23],
    ['makes twenty-six calls in turn', (index: number) => call(`${index % 26}`), 52],
  ])('and %s is refused, shown fewer repeats, and made to answer', async (_what, turnOf, executions) => {
    const { result, requests, executed, messages, events } = await run(
      (index) => (index < 60 ? { ...turnOf(index), text: 'Looking.' } : { text: 'never reached' }),
      { ...long, hooks: [createRepeatGuard()] },
    );
    expect(executed).toHaveLength(executions);
    expect(requests.length).toBeLessThan(executions + 7);
    expect(requests[executions + 1]?.transient).toContain('was not made');
    const steps = events.flatMap((event) => (event.type === 'loop-detected' ? [event.step] : []));
    expect(new Set(steps)).toEqual(new Set(['refused', 'dropped', 'tools-off']));
    // The repeats are not shown any more, but nothing is lost.
    expect(requests.at(-1)?.messages.length).toBeLessThan(messages.length);
    expect(requests.at(-1)?.toolsDisabled).toBe(true);
    expect(result).toMatchObject({
      text: 'Looking.',
      ending: 'answered',
      reason: expect.stringContaining('circles'),
    });
  });

  test('answers when its tools are gone', async () => {
    const seen: boolean[] = [];
    const { result } = await run(() => (seen.at(-1) ? { text: 'It is the lock file.' } : call('a')), {
      ...long,
      hooks: [createRepeatGuard(), { beforeModel: ({ toolsDisabled }) => void seen.push(toolsDisabled) }],
    });
    expect(result).toMatchObject({ text: 'It is the lock file.', ending: 'answered' });
  });

  test('is noticed across a compaction', async () => {
    const compaction = createCompaction({
      contextLimit: 4_000,
      ratio: 0.5,
      side: null,
      keepFile: async (name) => `/tmp/_out/${name}`,
      archive: async () => undefined,
    });
    const { toolbox } = scriptedTools(async () => ({ text: 'x'.repeat(3_500) }));
    const { executed, events } = await runWith(toolbox, compaction);
    expect(typesOf(events)).toContain('compaction');
    expect(typesOf(events)).toContain('loop-detected');
    expect(executed()).toBe(3);
  });

  test('is shown fewer repeats, though their results were pruned', async () => {
    let files = 0;
    const compaction = createCompaction({
      contextLimit: 9_000,
      ratio: 0.5,
      side: null,
      keepFile: async (name) => {
        files += 1;
        return `/tmp/_out/${name.replace('.', `-${files}.`)}`;
      },
      archive: async () => undefined,
    });
    const { toolbox } = scriptedTools(async ({ arguments: { at } }) => ({ at, text: 'x'.repeat(2_500) }));
    const { requests, events } = await run((index) => call(index % 2 === 0 ? 'a' : 'b'), {
      ...long,
      toolbox,
      contextLimit: 9_000,
      compaction,
      hooks: [createRepeatGuard()],
    });
    expect(typesOf(events)).toContain('compaction');
    const shown = JSON.stringify(requests.at(-1)?.messages);
    expect(shown.match(/\{"at":"a"\}/g)).toHaveLength(1);
    // What came last is shown as it was.
    expect(shown.match(/\{"at":"b"\}/g)).toHaveLength(2);
  });

  async function runWith(
    toolbox: ReturnType<typeof scriptedTools>['toolbox'],
    compaction: ReturnType<typeof createCompaction>,
  ) {
    let count = 0;
    const counting: typeof toolbox = {
      ...toolbox,
      execute: (...args) => {
        count += 1;
        return toolbox.execute(...args);
      },
    };
    const { events } = await run(() => call('a'), {
      ...long,
      toolbox: counting,
      contextLimit: 4_000,
      compaction,
      hooks: [createRepeatGuard()],
    });
    return { events, executed: () => count };
  }
});

test('60 honest polls, whose results differ, are no circle', async () => {
  let polls = 0;
  const { toolbox } = scriptedTools(async () => {
    polls += 1;
    return { state: 'running', seconds: polls };
  });
  const { result, events } = await run((index) => (index < 60 ? call('a') : { text: 'It is done.' }), {
    ...long,
    toolbox,
    hooks: [createRepeatGuard()],
  });
  expect(result).toMatchObject({ text: 'It is done.', ending: 'answered' });
  expect(polls).toBe(60);
  expect(typesOf(events)).not.toContain('loop-detected');
});

test('the same output in another file, and the same arguments in another order, are the same', async () => {
  let number = 0;
  const { toolbox } = scriptedTools(async () => {
    number += 1;
    return { stdout: 'same', stdout_file: `/tmp/_out/${number}.txt` };
  });
  const args = (index: number) => (index % 2 === 0 ? { a: 1, b: 2 } : { b: 2, a: 1 });
  await run((index) => ({ calls: [{ name: 'look', arguments: args(index) }] }), {
    ...long,
    toolbox,
    hooks: [createRepeatGuard()],
  });
  expect(number).toBe(3);
});

test.each(['gitlab_get_job_log', 'jira_get-issue'])(
  'the same fetch of %s into another file is the same',
  async (name) => {
    let number = 0;
    const { toolbox } = scriptedTools(async () => {
      number += 1;
      return { saved_to: `/tmp/data/${name}-${number}.txt`, bytes: 10 };
    });
    await run(() => call('a'), { ...long, toolbox, hooks: [createRepeatGuard()] });
    expect(number).toBe(3);
  },
);

test('several repeats in one turn are one step, not all of them', async () => {
  const calls = ['a', 'b', 'c', 'd'].map((at) => ({ name: 'look', arguments: { at } }));
  const { events } = await run((index) => (index < 4 ? { calls } : { text: 'Done.' }), {
    ...long,
    hooks: [createRepeatGuard()],
  });
  const steps = events.flatMap((event) => (event.type === 'loop-detected' ? [event.step] : []));
  expect(steps).toEqual(Array(4).fill('refused'));
});

test('many calls at once that are all the same are made a few times only', async () => {
  const calls = Array.from({ length: 60 }, () => ({ name: 'look', arguments: { at: 'a' } }));
  const { executed, result, requests } = await run([{ calls }, { text: 'Done.' }], {
    ...long,
    hooks: [createRepeatGuard()],
  });
  expect(executed).toHaveLength(3);
  // Told once: as often as it was asked, the words alone could fill the context.
  expect(requests[1]?.transient?.match(/at once/g)).toHaveLength(1);
  expect(result).toMatchObject({ text: 'Done.', reason: 'the model was done' });
});

test('many calls at once, made again turn by turn, are a circle', async () => {
  const calls = Array.from({ length: 13 }, (_, at) => ({ name: 'look', arguments: { at } }));
  const { executed, result } = await run(() => ({ text: 'Looking.', calls }), {
    ...long,
    hooks: [createRepeatGuard()],
  });
  expect(executed).toHaveLength(3 * 13);
  expect(result.reason).toContain('circles');
});

test('a model that heeds each refusal, and goes on to something else, keeps its tools', async () => {
  const { executed, result } = await run(
    (index) =>
      index < 80 ? call(index % 20 < 4 ? `often-${Math.floor(index / 20)}` : `${index}`) : { text: 'Done.' },
    { ...long, hooks: [createRepeatGuard()] },
  );
  expect(executed).toHaveLength(76);
  expect(result).toMatchObject({ text: 'Done.', reason: 'the model was done' });
});

test('so does one that asks for the same state again and again, and reads something new in between', async () => {
  const { executed, result } = await run(
    (index) => (index < 60 ? call(index % 3 === 0 ? 'state' : `${index}`) : { text: 'Done.' }),
    { ...long, hooks: [createRepeatGuard()] },
  );
  expect(result).toMatchObject({ text: 'Done.', reason: 'the model was done' });
  expect(new Set(executed.map(({ arguments: { at } }) => at)).size).toBe(41);
});

test('looking at many files once more, after a long while, is no circle', async () => {
  const { executed } = await run((index) => (index < 60 ? call(`${index % 30}`) : { text: 'Done.' }), {
    ...long,
    hooks: [createRepeatGuard()],
  });
  expect(executed).toHaveLength(60);
});

test('a call that is made again after a long while is no circle', async () => {
  const { executed } = await run(
    (index) => (index < 90 ? call(index % 30 === 0 ? 'again' : `${index}`) : { text: 'Done.' }),
    { ...long, hooks: [createRepeatGuard()] },
  );
  expect(executed).toHaveLength(90);
});
