import { createHash } from 'node:crypto';
import { mkdir, mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { createCompaction } from '../../../src/agent/compaction.ts';
import { createGate } from '../../../src/agent/gate.ts';
import { runLoop } from '../../../src/agent/loop.ts';
import type { Message } from '../../../src/agent/messages.ts';
import {
  type Delta,
  type Model,
  ModelError,
  type ModelEvent,
  type ModelRequest,
  type ModelTurn,
  NO_USAGE,
} from '../../../src/agent/model.ts';
import { SUMMARY_HEADINGS } from '../../../src/agent/prompts.ts';
import { createRepeatGuard } from '../../../src/agent/repeats.ts';
import { PermanentError } from '../../../src/errors.ts';
import type { ModelRole } from '../../../src/models/recorded-call.ts';
import { createRecording, readRecording } from '../../../src/models/recording.ts';
import { createReplay } from '../../../src/models/replay.ts';
import { withFallback } from '../../../src/models/with-fallback.ts';
import { withRecording } from '../../../src/models/with-recording.ts';
import { withRetry } from '../../../src/models/with-retry.ts';
import { newLedger } from '../../services/ledger.ts';
import { drain } from '../agent/run-loop.ts';
import { scriptedTools } from '../agent/scripted.ts';
import { assistant, requestOf, result, user } from './requests.ts';

let folder: string;
let dir: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'hummingbird-replay-test-'));
  dir = join(folder, 'recording');
});
afterEach(() => rm(folder, { recursive: true }));

const THOUGHT: ModelTurn = {
  message: {
    role: 'assistant',
    content: 'Let me look. Grüße 日本 \u2028',
    toolCalls: [{ id: 'a', name: 'sandbox_exec', arguments: { z: 1, command: 'ls', a: [null, { b: '' }] } }],
    native: {
      author: 'anthropic',
      content: [
        { type: 'thinking', thinking: 'Hm.', signature: 'c2ln' },
        { type: 'text', text: 'Let me look.' },
        { type: 'tool_use', name: 'sandbox_exec', id: 'a', input: { z: 1, a: 2 } },
      ],
    },
  },
  usage: { inputTokens: 10, cacheReadTokens: 3, cacheWriteTokens: 2, outputTokens: 5 },
  stop: 'tool-calls',
};
const ANSWER: ModelTurn = { message: assistant('It was the rounding.'), usage: NO_USAGE, stop: 'end' };
const BUSY = new ModelError('retry', 'busy', { retryAfterMs: 7 });

describe('a recorded run', () => {
  test('comes back to the letter: turns, thoughts, native content, failures, what happened on the way', async () => {
    const first = answering('one', BUSY, THOUGHT, new ModelError('switch', 'the key of one is refused'));
    const chain = withFallback([
      withRetry(first, { sleep: async () => undefined }),
      answering('two', ANSWER, new ModelError('too-long', 'too long', { retryAfterMs: 90_000 })),
    ]);
    const requests = [
      requestOf([user('why?')]),
      requestOf([user('why?'), THOUGHT.message, result('a')], { transient: 'Hurry up.' }),
      requestOf([user('why?'), THOUGHT.message, result('a')], { toolsDisabled: true }),
    ];
    const recorded = await askAll(await recordingOf(chain), requests);
    const { model, assertComplete } = await replayOf();
    const replayed = await askAll(model, requests);

    expect(JSON.stringify(replayed)).toBe(JSON.stringify(recorded));
    expect(recorded.map(({ name }) => name)).toEqual(['one', 'two', 'two']);
    expect(recorded.map(({ events }) => events.map(({ type }) => type))).toEqual([
      ['retry'],
      ['fallback'],
      [],
    ]);
    expect(recorded.map(({ outcome }) => outcome)).toMatchObject([
      THOUGHT,
      ANSWER,
      { kind: 'too-long', retryAfterMs: 90_000 },
    ]);
    assertComplete();
  });

  test('may have asked a second model beside the first: each keeps its name, and the calls their order', async () => {
    const recording = await createRecording(dir);
    const main = withRecording(answering('one', THOUGHT, ANSWER), {
      ...recording,
      role: 'main',
      ledger: newLedger(),
    });
    const side = withRecording(answering('small', ANSWER), {
      ...recording,
      role: 'side',
      ledger: newLedger(),
    });
    const ask = async (first: Model, second: Model) => {
      const before = [first.name, second.name];
      await first.generate(requestOf([user('why?')]));
      await second.generate(requestOf([user('Sum it up.')]));
      return [...before, first.name, second.name];
    };
    expect(await ask(main, side)).toEqual(['one', 'small', 'one', 'small']);
    await main.generate(requestOf([user('and?')]));

    const { open, assertComplete } = await replayOf();
    const [first, second] = [open('main', newLedger()), open('side', newLedger())];
    expect(await ask(first, second)).toEqual(['one', 'small', 'one', 'small']);
    await expect(second.generate(requestOf([user('and?')]))).rejects.toThrow(
      'call 3 is for the side model, and was for the main one',
    );
    // Whoever asked may go on without an answer; the replay does not.
    await expect(first.generate(requestOf([user('and?')]))).rejects.toThrow('call 3 is for the side model');
    expect(assertComplete).toThrow('call 3 is for the side model');
  });

  test('is heard in one piece', async () => {
    await askAll(await recordingOf(answering('one', ANSWER)), [requestOf([user('why?')])]);
    const deltas: Delta[] = [];
    const { model } = await replayOf();
    await model.generate(requestOf([user('why?')], { onDelta: (delta) => deltas.push(delta) }));
    expect(deltas).toEqual([{ kind: 'text', text: 'It was the rounding.' }]);
  });

  test('is a file for each call, readable, for the owner only', async () => {
    const requests = [requestOf([user('why?')]), requestOf([user('really?')], { transient: 'Now.' })];
    await askAll(await recordingOf(answering('one', THOUGHT, BUSY)), requests);
    expect((await readdir(dir)).toSorted()).toEqual(['0001.json', '0002.json', 'recording.json']);
    for (const name of await readdir(dir)) expect(await modeOf(join(dir, name)), name).toBe(0o600);
    expect(await modeOf(dir)).toBe(0o700);
    const { signal: _, ...asked } = requests[1] ?? requestOf([]);
    const second = await readFile(join(dir, '0002.json'), 'utf8');
    expect(JSON.parse(second)).toEqual({
      call: 2,
      role: 'main',
      model: 'one',
      request: asked,
      events: [],
      couldGoOn: true,
      costMicroUsd: 0,
      answer: { error: { kind: 'retry', message: 'busy', retryAfterMs: 7 } },
    });
    expect(Object.keys(JSON.parse(second))).toEqual([
      'call',
      'role',
      'model',
      'request',
      'events',
      'couldGoOn',
      'costMicroUsd',
      'answer',
    ]);
    expect(second.split('\n')[1]).toBe('  "call": 2,');
  });

  test('does not hold a call that was aborted', async () => {
    const controller = new AbortController();
    const stuck: Model = {
      name: 'one',
      async generate({ signal }) {
        controller.abort(new Error('enough'));
        signal.throwIfAborted();
        return ANSWER;
      },
    };
    const model = await recordingOf(stuck);
    const failure = model.generate(requestOf([user('why?')], { signal: controller.signal }));
    await expect(failure).rejects.toThrow('enough');
    expect(await readdir(dir)).toEqual([]);
  });

  test('that went in circles until it had no tools replays', async () => {
    const circling: Model = {
      name: 'one',
      generate: async ({ toolsDisabled }) => (toolsDisabled ? ANSWER : { ...THOUGHT, usage: NO_USAGE }),
    };
    const recording = await createRecording(dir);
    const ledger = newLedger();
    const recorded = await runAgent(
      { main: withRecording(circling, { ...recording, role: 'main', ledger }), side: fickle },
      30,
    );
    expect(recorded).toMatchObject({ ending: 'answered', reason: expect.stringContaining('circles') });
    const { open, assertComplete } = await replayOf();
    const replayed = await runAgent({ main: open('main', newLedger()), side: fickle }, 30);
    expect(JSON.stringify(replayed)).toBe(JSON.stringify(recorded));
    assertComplete();
  });

  test('whatever it was, it replays to the same messages and the same answer', async () => {
    let number = 0;
    await fc.assert(
      fc.asyncProperty(fc.array(anyStep, { maxLength: 6 }), async (steps) => {
        number += 1;
        dir = join(folder, `${number}`);
        const recording = await createRecording(dir);
        const recorded = await runAgent({
          main: withRecording(scripted(steps), { ...recording, role: 'main', ledger: newLedger() }),
          side: withRecording(fickle, { ...recording, role: 'side', ledger: newLedger() }),
        });
        const { open, assertComplete } = await replayOf();
        const replayed = await runAgent({
          main: open('main', newLedger()),
          side: open('side', newLedger()),
        });
        expect(JSON.stringify(replayed)).toBe(JSON.stringify(recorded));
        assertComplete();
      }),
      { numRuns: 60 },
    );
  }, 60_000);
});

describe('a run that is not the one recorded', () => {
  const messages = [user('why?'), THOUGHT.message, result('a', '{"stdout":"expected 10.00 to equal 10.01"}')];
  const request = requestOf(messages);

  test.each<[string, ModelRequest, RegExp]>([
    [
      'another result of a tool',
      requestOf([...messages.slice(0, 2), result('a', '{"stdout":"expected 10.00 to equal 10.02"}')]),
      /at messages\[2\]\.content, character 40: recorded …" 10\.00 to equal 10\.01\\"}", now …" 10\.00 to equal 10\.02\\"}"\. /,
    ],
    [
      'one message more',
      requestOf([...messages, user('and now?')]),
      /at messages\[3\]: recorded nothing, now {"role":"user","content":"and now\?"}\./,
    ],
    [
      'a failure instead of a result',
      requestOf([...messages.slice(0, 2), { ...result('a', messages[2]?.content), isError: true }]),
      /at messages\[2\]\.isError: recorded false, now true\./,
    ],
    [
      'another tool',
      requestOf(messages, { tools: [] }),
      /at tools\[0\]: recorded {"name":"sandbox_exec".*…, now nothing\./,
    ],
    [
      'another system prompt',
      requestOf(messages, { system: 'You are.' }),
      /at system, character 8: recorded "/,
    ],
    [
      'words for this request',
      requestOf(messages, { transient: 'Hurry.' }),
      /at transient: recorded nothing/,
    ],
    ['no tools', requestOf(messages, { toolsDisabled: true }), /at toolsDisabled: recorded false, now true/],
    [
      'a shorter answer',
      requestOf(messages, { maxOutputTokens: 9 }),
      /at maxOutputTokens: recorded 1234, now 9/,
    ],
    [
      'keys in another order',
      requestOf([{ content: 'why?', role: 'user' }, ...messages.slice(1)]),
      /at the order of keys/,
    ],
  ])('is told by the first difference: %s', async (_, other, expected) => {
    await askAll(await recordingOf(answering('one', ANSWER, ANSWER)), [request, request]);
    const { model, assertComplete } = await replayOf();
    await model.generate(request);
    const failure = await model.generate(other).catch((error: unknown) => error);
    expect(failure).toMatchObject({ name: 'ModelError', kind: 'stop' });
    expect(String(failure)).toContain(`not the one recorded in ${dir}: call 2 differs `);
    expect(String(failure)).toMatch(expected);
    expect(String(failure)).toContain('record anew');
    // Once it has left the path, nothing it is told would be right.
    await expect(model.generate(request)).rejects.toBe(failure);
    expect(assertComplete).toThrow(PermanentError);
    expect(assertComplete).toThrow(String((failure as Error).message));
  });

  test('is told when it asks for more, and when it asks for less', async () => {
    await askAll(await recordingOf(answering('one', ANSWER, ANSWER)), [request, request]);
    const { model, assertComplete } = await replayOf();
    await model.generate(request);
    expect(assertComplete).toThrow('it ended after 1 of 2 calls');
    await model.generate(request);
    assertComplete();
    await expect(model.generate(request)).rejects.toThrow('call 3 is one more than were recorded');
    expect(assertComplete).toThrow('call 3 is one more');
  });
});

describe('a folder', () => {
  test('that is not empty is not recorded into', async () => {
    await mkdir(dir);
    await createRecording(dir);
    await writeFile(join(dir, 'notes.txt'), 'mine');
    await expect(createRecording(dir)).rejects.toThrow(PermanentError);
    await expect(createRecording(dir)).rejects.toThrow(`${dir} is not empty`);
    expect(await readdir(dir)).toEqual(['notes.txt']);
  });

  test.each([
    ['is not there', async () => undefined, 'can not be read'],
    ['holds something else', async () => void (await mkdir(dir)), 'holds no recording'],
    ['lacks a call', () => rm(join(dir, '0001.json')), '0001.json is missing'],
    [
      'holds half a call',
      () => writeFile(join(dir, '0002.json'), '{"call":2,'),
      '0002.json is not what was recorded',
    ],
    [
      'holds a call without answer',
      () => writeFile(join(dir, '0002.json'), '{}'),
      '0002.json is not what was recorded',
    ],
  ])('that %s is not replayed', async (problem, spoil, message) => {
    if (!/there|else/.test(problem)) {
      const requests = [requestOf([user('why?')]), requestOf([user('why?')])];
      await askAll(await recordingOf(answering('one', ANSWER, ANSWER)), requests);
    }
    await spoil();
    await expect(readRecording(dir)).rejects.toThrow(PermanentError);
    await expect(readRecording(dir)).rejects.toThrow(message);
  });
});

async function recordingOf(model: Model): Promise<Model> {
  return withRecording(model, { ...(await createRecording(dir)), role: 'main', ledger: newLedger() });
}

async function replayOf() {
  const { open, assertComplete } = createReplay(await readRecording(dir));
  return { model: open('main', newLedger()), open, assertComplete };
}

function answering(name: string, ...answers: (ModelTurn | ModelError)[]): Model {
  const left = [...answers];
  return {
    name,
    async generate() {
      const answer = left.shift();
      if (!answer) throw new Error('the script is over');
      if (answer instanceof ModelError) throw answer;
      return answer;
    },
  };
}

/** What became of each request, as far as anybody can see it. */
async function askAll(model: Model, requests: ModelRequest[]) {
  const seen: { name: string; events: ModelEvent[]; outcome: unknown }[] = [];
  for (const request of requests) {
    const events: ModelEvent[] = [];
    const outcome = await model
      .generate({ ...request, onEvent: (event) => events.push(event) })
      .catch(({ kind, message, retryAfterMs }: ModelError) => ({ kind, message, retryAfterMs }));
    seen.push({ name: model.name, events, outcome });
  }
  return seen;
}

async function modeOf(path: string): Promise<number> {
  return (await stat(path)).mode & 0o777;
}

const anyArguments = fc.dictionary(fc.string(), fc.jsonValue(), { maxKeys: 4 });
const anyTurn = fc.record({
  content: fc.string({ unit: 'binary' }),
  calls: fc.array(anyArguments, { maxLength: 3 }),
  native: fc.option(fc.jsonValue()),
  tokens: fc.nat(20_000),
  stop: fc.constantFrom<ModelTurn['stop']>('end', 'tool-calls', 'length', 'other'),
});
const anyFailure = fc.record({
  kind: fc.constantFrom<ModelError['kind']>('retry', 'switch', 'too-long', 'stop'),
  message: fc.string(),
  retryAfterMs: fc.option(fc.nat()),
});
const anyStep = fc.oneof({ weight: 6, arbitrary: anyTurn }, { weight: 1, arbitrary: anyFailure });
type Step = typeof anyStep extends fc.Arbitrary<infer T> ? T : never;

/** Says what the steps say; at their end, that it is done. */
function scripted(steps: Step[]): Model {
  let at = 0;
  return {
    name: 'scripted/model',
    async generate({ messages }) {
      const step = steps[at];
      at += 1;
      if (!step) return ANSWER;
      if ('kind' in step) {
        const { kind, message, retryAfterMs } = step;
        throw new ModelError(kind, message, retryAfterMs === null ? {} : { retryAfterMs });
      }
      const { content, calls, native, tokens, stop } = step;
      const toolCalls = calls.map((args, index) => ({
        id: `call_${messages.length}_${index}`,
        name: 'look',
        arguments: args,
      }));
      return {
        message: {
          role: 'assistant',
          content,
          toolCalls,
          ...(native !== null && { native: { author: 'scripted', content: native } }),
        },
        usage: { ...NO_USAGE, inputTokens: tokens },
        stop,
      };
    },
  };
}

/** All that takes part in an analysis; the tools run at the same time, and another one is first each time. */
async function runAgent({ main, side }: Record<ModelRole, Model>, maxIterations = 5) {
  const messages: Message[] = [user('{"iid":7}')];
  const { toolbox } = scriptedTools(async ({ arguments: args }) => {
    for (let left = Math.random() * 4; left > 0; left -= 1) await new Promise((go) => setImmediate(go));
    return { seen: args, ok: true };
  });
  const saved: string[] = [];
  let files = 0;
  const compaction = createCompaction({
    contextLimit: 15_000,
    ratio: 0.8,
    side,
    keepFile: async (name) => {
      files += 1;
      return `/tmp/_out/${files}-${name}`;
    },
    archive: async (cut) => void saved.push(JSON.stringify(cut)),
  });
  const loop = runLoop({
    model: main,
    toolbox: { ...toolbox, isParallel: () => true },
    system: 'You are Hummingbird.',
    messages,
    maxIterations,
    contextLimit: 15_000,
    maxOutputTokens: 1_000,
    compaction,
    hooks: [createRepeatGuard(), createGate({ judge: side })],
    checkpoint: async (all) => void saved.push(JSON.stringify(all)),
    signal: new AbortController().signal,
  });
  const { result } = await drain(loop);
  return { messages, saved, ...result, error: String(result.error) };
}

/** What it says depends on every letter it is asked. */
const fickle: Model = {
  name: 'scripted/side',
  async generate({ messages }) {
    const sum = createHash('sha256').update(JSON.stringify(messages)).digest('hex');
    const text = sum < '8' ? `CONTINUE: ${sum}` : [...SUMMARY_HEADINGS, sum].join('\n');
    return { message: assistant(text), usage: NO_USAGE, stop: 'end' };
  },
};
