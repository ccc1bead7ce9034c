import { once } from 'node:events';
import { describe, expect, onTestFinished, test, vi } from 'vitest';
import { createCompaction } from '../../../src/agent/compaction.ts';
import type { Hooks } from '../../../src/agent/hooks.ts';
import { runLoop } from '../../../src/agent/loop.ts';
import type { Message } from '../../../src/agent/messages.ts';
import { ModelError } from '../../../src/agent/model.ts';
import {
  CONTEXT_WARNING,
  CONTINUATION_PROMPT,
  CONTINUE_ANSWER,
  CUT_OFF_NUDGE,
  composeSystemPrompt,
  EMPTY_RESPONSE_NUDGE,
  FINAL_TURN_WARNING,
  ITERATION_WARNING,
  NO_FINAL_RESPONSE,
  TOO_LONG_ANSWER_NUDGE,
} from '../../../src/agent/prompts.ts';
import { run, typesOf } from './run-loop.ts';
import { type ScriptedTurn, scriptedModel, scriptedTools } from './scripted.ts';

const look = { name: 'look' };

describe('a response', () => {
  test('of text alone is the answer', async () => {
    const { result, messages, saved } = await run([{ text: 'The test failed.' }]);
    expect(result).toMatchObject({ text: 'The test failed.', ending: 'answered', iterations: 1 });
    expect(messages.at(-1)).toEqual({ role: 'assistant', content: 'The test failed.', toolCalls: [] });
    expect(saved).toEqual([messages]);
  });

  test('of calls is executed in order, and its results go back in order', async () => {
    const calls = [
      { name: 'look', arguments: { at: 'a' } },
      { name: 'look', arguments: { at: 'b' } },
    ];
    const { result, requests, executed } = await run([{ calls }, { text: 'done' }]);
    expect(result.ending).toBe('answered');
    expect(executed.map((call) => call.arguments)).toEqual([{ at: 'a' }, { at: 'b' }]);
    expect(requests[1]?.messages.slice(1)).toMatchObject([
      { role: 'assistant', toolCalls: [{ id: 'call-0-0' }, { id: 'call-0-1' }] },
      { role: 'tool', toolCallId: 'call-0-0', content: '{"ok":true}', isError: false },
      { role: 'tool', toolCallId: 'call-0-1' },
    ]);
  });

  test('of text and calls goes on, and the text is the answer if no better one comes', async () => {
    const { result } = await run([{ text: 'I suspect the lock file.', calls: [look] }, {}, {}, {}]);
    expect(result).toMatchObject({ text: 'I suspect the lock file.', ending: 'empty' });
  });

  test('of neither is asked for again twice, with a nudge that is never saved', async () => {
    const { result, requests, messages } = await run([{}, {}, { text: 'Here it is.' }]);
    expect(result).toMatchObject({ text: 'Here it is.', ending: 'answered', iterations: 3 });
    expect(requests.map(({ transient }) => transient)).toEqual([
      undefined,
      EMPTY_RESPONSE_NUDGE,
      EMPTY_RESPONSE_NUDGE,
    ]);
    expect(requests.every(({ toolsDisabled }) => !toolsDisabled)).toBe(true);
    expect(messages).toHaveLength(2);
    const silent = await run([{}, {}, {}]);
    expect(silent.result).toMatchObject({ text: NO_FINAL_RESPONSE, ending: 'empty', iterations: 3 });
  });

  test('that was cut off within a call is neither executed nor saved', async () => {
    const { result, executed, requests, messages } = await run([
      { text: 'Writing', calls: [look], stop: 'length' },
      { text: 'Short.' },
    ]);
    expect(result).toMatchObject({ text: 'Short.', ending: 'answered' });
    expect(executed).toEqual([]);
    expect(requests[1]?.transient).toBe(CUT_OFF_NUDGE);
    expect(messages).toHaveLength(2);
  });
});

describe('an answer that the output limit cuts off', () => {
  test('is continued, and is one answer in the end', async () => {
    const { result, requests, messages } = await run([
      { text: 'The cause is ', stop: 'length' },
      { text: 'the lock ', stop: 'length' },
      { text: 'file.' },
    ]);
    expect(result).toMatchObject({ text: 'The cause is the lock file.', ending: 'answered', iterations: 3 });
    expect(requests.map(({ transient }) => transient)).toEqual([undefined, CONTINUE_ANSWER, CONTINUE_ANSWER]);
    expect(requests[2]?.messages.at(-1)).toEqual({
      role: 'assistant',
      content: 'The cause is the lock ',
      toolCalls: [],
    });
    expect(messages.slice(1)).toEqual([
      { role: 'assistant', content: 'The cause is the lock file.', toolCalls: [] },
    ]);
  });

  test('is continued three times; then the model is told to write to a file, and if that is cut off too, the longer text is the answer', async () => {
    const { result, requests, messages } = await run((index) => ({ text: `${index}`, stop: 'length' }));
    expect(requests.map(({ transient }) => transient)).toEqual([
      undefined,
      CONTINUE_ANSWER,
      CONTINUE_ANSWER,
      CONTINUE_ANSWER,
      TOO_LONG_ANSWER_NUDGE,
    ]);
    expect(result).toMatchObject({ text: '0123', ending: 'answered', reason: 'the answer was cut off' });
    expect(messages).toHaveLength(2);
  });

  test('begins anew when it went on with calls that were all refused', async () => {
    const { result, requests } = await run(
      [
        { text: 'The cause is ', stop: 'length' },
        { text: 'what', calls: [look] },
        { text: 'It is the lock file.' },
      ],
      { hooks: [{ beforeTool: () => ({ refuse: 'not again' }) }] },
    );
    expect(requests[2]?.messages).toHaveLength(1);
    expect(result).toMatchObject({ text: 'It is the lock file.', ending: 'answered' });
  });

  test('may go on with calls, which keep the text', async () => {
    const { messages } = await run([
      { text: 'I look at ', stop: 'length' },
      { text: 'it.', calls: [look] },
      { text: 'Done.' },
    ]);
    expect(messages.slice(1)).toMatchObject([
      { role: 'assistant', content: 'I look at it.', toolCalls: [{ name: 'look' }] },
      { role: 'tool' },
      { role: 'assistant', content: 'Done.' },
    ]);
  });
});

describe('the budget', () => {
  test('of turns warns at 80 % and ends with one turn without tools', async () => {
    const { result, requests, executed } = await run(
      (index) => (index < 9 ? { calls: [look] } : { text: 'All I know.' }),
      { maxIterations: 10, contextLimit: 10_000 },
    );
    expect(result).toMatchObject({ text: 'All I know.', ending: 'iterations', iterations: 10 });
    expect(executed).toHaveLength(9);
    expect(requests.map(({ transient }) => transient)).toEqual([
      ...Array(7).fill(undefined),
      ITERATION_WARNING,
      ITERATION_WARNING,
      FINAL_TURN_WARNING,
    ]);
    expect(requests.map(({ toolsDisabled }) => toolsDisabled)).toEqual([...Array(9).fill(false), true]);
  });

  test('of context counts cached tokens too, warns at 80 % and makes the next turn the last', async () => {
    const { result, requests } = await run([
      {
        calls: [look],
        usage: { inputTokens: 10, cacheReadTokens: 700, cacheWriteTokens: 80, outputTokens: 10 },
      },
      {
        calls: [look],
        usage: { inputTokens: 10, cacheReadTokens: 900, cacheWriteTokens: 80, outputTokens: 10 },
      },
      { text: 'Enough.' },
    ]);
    expect(result).toMatchObject({ text: 'Enough.', ending: 'context', iterations: 3 });
    expect(requests.map(({ transient }) => transient)).toEqual([
      undefined,
      CONTEXT_WARNING,
      FINAL_TURN_WARNING,
    ]);
    expect(requests.at(-1)?.toolsDisabled).toBe(true);
  });

  test('of context is checked before the first request of a resumed session', async () => {
    const messages: Message[] = [
      { role: 'user', content: '{"iid":7}' },
      {
        role: 'assistant',
        content: 'Long ago.',
        toolCalls: [],
        size: { tokens: 990, model: 'scripted/test' },
      },
      { role: 'user', content: 'And now, after all this time and all these words?' },
    ];
    const { result, requests } = await run([{ text: 'Enough.' }], { messages });
    expect(requests[0]).toMatchObject({ toolsDisabled: true, transient: FINAL_TURN_WARNING });
    expect(result.ending).toBe('context');
  });

  test('of context holds for the last turn too: what is sent is cut until it fits', async () => {
    const { toolbox } = scriptedTools(async () => ({ text: 'y'.repeat(9_000) }));
    const { result, requests, messages } = await run(
      [
        { text: 'Looking.', calls: [look], usage: { inputTokens: 50 } },
        { text: 'It is the lock file.', usage: { inputTokens: 400 } },
      ],
      { toolbox },
    );
    expect(result).toMatchObject({ text: 'It is the lock file.', ending: 'context' });
    expect(JSON.stringify(requests[1]?.messages).length).toBeLessThan(2_000);
    expect(JSON.stringify(messages)).toContain('y'.repeat(9_000));
    // What it counted was not all of it.
    expect(messages.at(-1)).not.toHaveProperty('size');
  });

  test('of context that has no room for the instructions asks nobody, and says which setting is too low', async () => {
    const { result, requests } = await run([{ text: 'Never.' }], { system: 'Look well. '.repeat(300) });
    expect(result).toMatchObject({ ending: 'model-error', text: NO_FINAL_RESPONSE });
    expect(result.reason).toMatch(/context_limit of the workflow, 1000, is too low/);
    expect(requests).toEqual([]);
  });

  test('of context counts what a hook has added to an answer', async () => {
    const wordy: Hooks = {
      afterModel: (turn) => ({
        turn: { ...turn, message: { ...turn.message, content: 'w'.repeat(2_000) } },
      }),
    };
    const { requests, result } = await run(() => ({ calls: [look], usage: 'counted' }), {
      hooks: [wordy],
      contextLimit: 8_000,
      maxIterations: 20,
    });
    expect(result.ending).toBe('context');
    for (const request of requests) expect(bytes(request.messages)).toBeLessThan(8_500);
  });

  test('of context holds with a server that counts only what it had not seen before', async () => {
    const { toolbox } = scriptedTools(async () => ({ text: 'y'.repeat(2_000) }));
    const { requests, result } = await run(
      () => ({ text: 'So far.', calls: [look], usage: { inputTokens: 520, outputTokens: 20 } }),
      { toolbox, contextLimit: 12_000, maxIterations: 50 },
    );
    expect(result.ending).toBe('context');
    // What it can not have meant is not believed, once the conversation is long enough to tell.
    for (const request of requests) expect(bytes(request.messages) / 2).toBeLessThan(12_000);
  });

  test('of context holds with a server that does not count what the model writes', async () => {
    const { requests, result } = await run(
      () => ({ text: 'w'.repeat(4_000), calls: [look], usage: 'counted' }),
      { contextLimit: 8_000, maxIterations: 20 },
    );
    expect(result.ending).toBe('context');
    for (const request of requests) expect(bytes(request.messages) / 4).toBeLessThan(8_000);
  });

  test('of context holds for what a hook has made of a request', async () => {
    const { result, requests } = await run([{ text: 'What I know.' }], {
      hooks: [
        {
          beforeModel: (request) =>
            request.toolsDisabled
              ? undefined
              : { request: { ...request, transient: 'words of a hook '.repeat(100) } },
        },
      ],
    });
    expect(result).toMatchObject({ text: 'What I know.', ending: 'context' });
    expect(requests).toHaveLength(1);
    expect(JSON.stringify(requests[0]).length).toBeLessThan(1_000);
  });

  test('of time gives up a tool that does not end, keeps what others brought, and makes the next turn the last', async () => {
    const { toolbox } = scriptedTools(({ arguments: { at } }) =>
      at === 'now' ? Promise.resolve({ found: true }) : new Promise(() => undefined),
    );
    const calls = ['now', 'never'].map((at) => ({ name: 'look', arguments: { at } }));
    const { result, requests, saved } = await run([{ calls }, { text: 'So far.' }], {
      toolbox,
      maxDurationMs: 1_000,
    });
    expect(requests.map(({ toolsDisabled }) => toolsDisabled)).toEqual([false, true]);
    expect(saved[0]?.slice(2)).toMatchObject([
      { content: '{"found":true}', isError: false },
      { content: expect.stringContaining('the time for this run is over'), isError: true },
    ]);
    expect(result).toMatchObject({ text: 'So far.', ending: 'time', iterations: 2 });
  });

  test('of time lets a tool say what it has done so far', async () => {
    const { toolbox } = scriptedTools(async (_call, signal) => {
      await once(signal, 'abort');
      return { results: ['the half of it'] };
    });
    const { saved } = await run([{ calls: [look] }, { text: 'So far.' }], { toolbox, maxDurationMs: 1_000 });
    expect(saved[0]?.at(-1)).toMatchObject({ content: '{"results":["the half of it"]}', isError: false });
  });

  test('of time gives up a hook that does not end after a tool, and makes the next turn the last', async () => {
    const stuck: Hooks = {
      afterTool: ({ arguments: { at } }) => (at === 'stuck' ? new Promise(() => undefined) : undefined),
    };
    const calls = ['fine', 'stuck'].map((at) => ({ name: 'look', arguments: { at } }));
    const { result, saved } = await run([{ calls }, { text: 'So far.' }], {
      hooks: [stuck],
      maxDurationMs: 1_000,
    });
    expect(saved[0]?.slice(2)).toMatchObject([{ isError: false }, { isError: true }]);
    expect(result).toMatchObject({ text: 'So far.', ending: 'time', iterations: 2 });
  });

  test('of time gives up a model that does not answer and asks once more; then it ends with what there is', async () => {
    const { model, requests } = scriptedModel([{ text: 'I suspect the lock file.', calls: [look] }]);
    const silent: typeof model = {
      ...model,
      generate: (request) => {
        if (requests.length === 0) return model.generate(request);
        requests.push({ ...request, messages: [...request.messages] });
        return new Promise(() => undefined);
      },
    };
    const { result, events } = await run([], { model: silent, maxDurationMs: 500 });
    expect(requests.map(({ toolsDisabled }) => toolsDisabled)).toEqual([false, false, true]);
    expect(result).toMatchObject({ text: 'I suspect the lock file.', ending: 'time', iterations: 3 });
    expect(events.at(-1)).toMatchObject({ type: 'ended', ending: 'time' });
  });

  test('of time that ends in the middle of a continued answer has the rest of it asked for in the last turn', async () => {
    const { model, requests } = scriptedModel([
      { text: 'The cause is ', stop: 'length' },
      { text: 'the lock file.' },
    ]);
    let asked = 0;
    const stalling: typeof model = {
      ...model,
      generate: (request) => {
        asked += 1;
        return asked === 2 ? new Promise(() => undefined) : model.generate(request);
      },
    };
    const { result } = await run([], { model: stalling, maxDurationMs: 500 });
    expect(requests.at(-1)?.transient).toContain(CONTINUE_ANSWER);
    expect(result).toMatchObject({ text: 'The cause is the lock file.', ending: 'time' });
  });

  test('of time that is used up before the first turn leaves a last one', async () => {
    const slow = { beforeAgent: () => new Promise<undefined>(() => undefined) };
    const { result, requests } = await run([{ text: 'Nothing yet.' }], { hooks: [slow], maxDurationMs: 500 });
    expect(requests.map(({ toolsDisabled }) => toolsDisabled)).toEqual([true]);
    expect(result).toMatchObject({ text: 'Nothing yet.', ending: 'time', iterations: 1 });
  });

  test('of time gives up whoever objects to an answer, and the answer stays the best there is', async () => {
    const never = { afterAgent: () => new Promise<undefined>(() => undefined) };
    const { result, messages } = await run([{ text: 'The lock file.' }, {}], {
      hooks: [never],
      maxDurationMs: 500,
    });
    expect(result).toMatchObject({ text: 'The lock file.', ending: 'time' });
    expect(messages.at(-1)).toMatchObject({ role: 'assistant', content: 'The lock file.' });
  });

  test('of time does not wait for a checkpoint that hangs: the next turn is the last, and its answer comes in time', async () => {
    const { result, requests, messages } = await run([{ calls: [look] }, { text: 'So far.' }], {
      checkpoint: () => new Promise(() => undefined),
      maxDurationMs: 500,
    });
    expect(requests.map(({ toolsDisabled }) => toolsDisabled)).toEqual([false, true]);
    expect(result).toMatchObject({ text: 'So far.', ending: 'time' });
    expect(messages.at(-1)).toMatchObject({ role: 'assistant', content: 'So far.' });
  });

  test('of time leaves an answer what it is when saving it hangs', async () => {
    const checkpoint = () => new Promise<void>(() => undefined);
    const { result, events } = await run([{ text: 'The lock file.' }], { checkpoint, maxDurationMs: 500 });
    expect(result).toMatchObject({ text: 'The lock file.', ending: 'answered' });
    expect(typesOf(events)).not.toContain('checkpoint');
  });

  test('of time that goes by while a checkpoint is slow lets the next one wait for it', async () => {
    const saved: number[] = [];
    const { promise: isReady, resolve } = Promise.withResolvers<void>();
    const lastTurn = (): ScriptedTurn => {
      resolve();
      return { text: 'So far.' };
    };
    const { result } = await run((index) => (index === 0 ? { calls: [look] } : lastTurn()), {
      checkpoint: async ({ length }) => {
        await isReady;
        saved.push(length);
      },
      maxDurationMs: 500,
    });
    expect(result).toMatchObject({ text: 'So far.', ending: 'time' });
    expect(saved).toEqual([3, 4]);
  });

  test('of time is no reason to leave a checkpoint behind when the run is stopped', async () => {
    const stop = new AbortController();
    let isSaved = false;
    const { result } = await run([{ calls: [look] }], {
      checkpoint: async () => {
        stop.abort(new Error('a new commit was pushed'));
        await new Promise(setImmediate);
        isSaved = true;
      },
      signal: stop.signal,
    });
    expect(result).toMatchObject({ ending: 'stopped', reason: 'a new commit was pushed' });
    expect(isSaved).toBe(true);
  });

  test('of money leaves enough for a last turn', async () => {
    const { model, requests } = scriptedModel((index) =>
      index < 2 ? { calls: [look], text: 'Looking.' } : { text: 'It is the lock file.' },
    );
    let asked = 0;
    const canGoOn = async (): Promise<boolean> => {
      asked += 1;
      return asked < 3;
    };
    const { result } = await run([], { model: { ...model, canGoOn } });
    expect(requests.map(({ toolsDisabled }) => toolsDisabled)).toEqual([false, false, true]);
    expect(requests.at(-1)?.transient).toBe(FINAL_TURN_WARNING);
    expect(result).toMatchObject({ text: 'It is the lock file.', ending: 'money' });
  });

  test('is never exceeded by a model that only calls tools', async () => {
    const { result, requests, executed } = await run(() => ({ text: 'hm', calls: [look] }), {
      maxIterations: 3,
    });
    expect(requests).toHaveLength(3);
    expect(executed).toHaveLength(2);
    expect(result).toMatchObject({ text: 'hm', ending: 'iterations' });
  });

  test('sums up what all turns used', async () => {
    const usage = { inputTokens: 10, outputTokens: 5, cacheReadTokens: 1, cacheWriteTokens: 2 };
    const { result } = await run([
      { calls: [look], usage },
      { text: 'x', usage },
    ]);
    expect(result.usage).toEqual({
      inputTokens: 20,
      outputTokens: 10,
      cacheReadTokens: 2,
      cacheWriteTokens: 4,
    });
  });
});

describe('a run', () => {
  test('never changes the system text or the definitions between its requests', async () => {
    const { requests } = await run((index) => (index < 9 ? { calls: [look] } : { text: 'x' }));
    expect(new Set(requests.map(({ system, tools }) => JSON.stringify([system, tools]))).size).toBe(1);
  });

  test('saves only conversations in which every call has its result', async () => {
    const { saved } = await run([{ calls: [look, look] }, { calls: [look] }, { text: 'x' }]);
    expect(saved.map((messages) => messages.map(({ role }) => role).join(' '))).toEqual([
      'user assistant tool tool',
      'user assistant tool tool assistant tool',
      'user assistant tool tool assistant tool assistant',
    ]);
  });

  test('whose model is away ends with what there is, and can be resumed', async () => {
    const away = new ModelError('retry', 'overloaded');
    const { result, messages } = await run([{ text: 'So far so good.', calls: [look] }, { throws: away }]);
    expect(result).toMatchObject({
      text: 'So far so good.',
      ending: 'model-error',
      reason: 'overloaded',
      error: away,
    });
    const resumed = await run([{ text: 'Done.' }], { messages });
    expect(resumed.result).toMatchObject({ text: 'Done.', ending: 'answered', iterations: 1 });
    expect(resumed.requests[0]?.messages).toHaveLength(3);
  });

  test('that has no money left ends with what there is, as with any budget', async () => {
    const error = new ModelError('no-money', 'the limit is reached');
    const { result, saved } = await run([{ text: 'So far so good.', calls: [look] }, { throws: error }]);
    expect(result).toMatchObject({
      text: 'So far so good.',
      ending: 'money',
      reason: 'the limit is reached',
      iterations: 1,
    });
    expect(result.error).toBeUndefined();
    expect(saved).toHaveLength(1);
  });

  test('that goes on later still has its best text', async () => {
    const away = new ModelError('retry', 'overloaded');
    const { messages } = await run([{ text: 'It is the lock file.', calls: [look] }, { throws: away }]);
    const { result } = await run([{ throws: away }], { messages });
    expect(result).toMatchObject({ text: 'It is the lock file.', ending: 'model-error' });
  });

  test('that ends with a text which was sent back has it in its session', async () => {
    const hooks = [{ afterAgent: () => ({ sendBack: 'look again' }) }];
    const { result, messages } = await run([{ text: 'It is the lock file.' }, {}, {}, {}], { hooks });
    expect(result).toMatchObject({ text: 'It is the lock file.', ending: 'empty' });
    expect(messages.at(-1)).toMatchObject({ role: 'assistant', content: 'It is the lock file.' });
  });

  test.each<[string, ScriptedTurn[]]>([
    ['beside calls', [{ text: 'Let me see.', calls: [look] }]],
    ['beside a call that was cut off', [{ text: 'Let me see.', calls: [look], stop: 'length' }]],
    ['and cut off', [{ text: 'I looked ag', stop: 'length' }]],
    ['beside the calls of a last turn', Array(9).fill({ text: 'Let me see.', calls: [look] })],
  ])('that says something shorter %s still has the answer that was sent back', async (_where, turns) => {
    const hooks: Hooks[] = [{ afterAgent: () => ({ sendBack: 'Look again.' }) }];
    const broken: ScriptedTurn = { throws: new ModelError('switch', 'the key was revoked') };
    const { result, messages } = await run([{ text: 'It is the lock file, line 4.' }, ...turns, broken], {
      hooks,
    });
    expect(result.text).toBe('It is the lock file, line 4.');
    expect(messages.at(-1)).toMatchObject({ role: 'assistant', content: 'It is the lock file, line 4.' });
  });

  test('whose last words are cut off has them, unless there was an answer that was sent back', async () => {
    const cutOff: ScriptedTurn = { text: 'I looked ag', stop: 'length' };
    const hooks: Hooks[] = [{ afterAgent: () => ({ sendBack: 'Look again.' }) }];
    const turns = [{ text: 'It is the lock file, line 4.' }, cutOff];
    const { result, messages } = await run(turns, { hooks, maxIterations: 2 });
    expect(result).toMatchObject({ text: 'It is the lock file, line 4.', ending: 'iterations' });
    expect(messages.at(-1)).toMatchObject({ role: 'assistant', content: 'It is the lock file, line 4.' });
    const alone = await run([{ text: 'Looking.', calls: [look] }, cutOff], { maxIterations: 2 });
    expect(alone.result).toMatchObject({ text: 'I looked ag', ending: 'iterations' });
  });

  test('that has given an answer which was too long still has it, whatever it says beside calls', async () => {
    const { result } = await run((index) =>
      index < 4
        ? { text: `part ${index} `, stop: 'length' }
        : index < 5
          ? { text: 'Writing.', calls: [look] }
          : {},
    );
    expect(result).toMatchObject({ text: 'part 0 part 1 part 2 part 3 ', ending: 'empty' });
  });

  test('whose calls nobody could look at keeps what was said beside them', async () => {
    const broken: Hooks = { beforeTool: () => Promise.reject(new Error('broken hook')) };
    const { result } = await run([{ text: 'It is the lock file.', calls: [look] }], { hooks: [broken] });
    expect(result).toMatchObject({ text: 'It is the lock file.', ending: 'unexpected-error' });
  });

  test('whose calls are always cut off ends with what it said beside them', async () => {
    const { result } = await run(() => ({ text: 'It is the lock file.', calls: [look], stop: 'length' }));
    expect(result).toMatchObject({ text: 'It is the lock file.', ending: 'empty' });
    expect(result.reason).toContain('cut off');
  });

  test('that meets something unexpected keeps what was saved', async () => {
    const { result, saved } = await run([{ calls: [look] }, { throws: new TypeError('oops') }]);
    expect(result).toMatchObject({ ending: 'unexpected-error', reason: 'oops', text: NO_FINAL_RESPONSE });
    expect(saved).toHaveLength(1);
  });

  test('that is told to stop ends at once, also within a tool', async () => {
    const controller = new AbortController();
    const { toolbox } = scriptedTools(
      (_call, signal) =>
        new Promise((_, reject) => {
          signal.addEventListener('abort', () => reject(signal.reason));
          controller.abort(new Error('a new commit was pushed'));
        }),
    );
    const { result, messages } = await run([{ calls: [look] }], { toolbox, signal: controller.signal });
    expect(result).toMatchObject({ ending: 'stopped', reason: 'a new commit was pushed' });
    expect(messages).toHaveLength(1);
  });

  test('says what it does while it does it', async () => {
    const { events } = await run([{ text: 'Let me see it all', calls: [look] }, { text: 'Done.' }]);
    expect(typesOf(events)).toEqual([
      'turn-started',
      'text-delta',
      'text-delta',
      'turn',
      'tool-started',
      'tool-finished',
      'checkpoint',
      'turn-started',
      'text-delta',
      'turn',
      'checkpoint',
      'ended',
    ]);
  });
});

describe('a conversation that is too long for the model', () => {
  const TOO_LONG = new ModelError('too-long', 'prompt is too long');
  const long = (at: number): Message[] => [
    { role: 'assistant', content: '', toolCalls: [{ id: `c${at}`, name: 'look', arguments: { at } }] },
    {
      role: 'tool',
      toolCallId: `c${at}`,
      name: 'look',
      content: JSON.stringify({ text: 'x'.repeat(3_000) }),
      isError: false,
    },
  ];
  const history = (): Message[] => [
    { role: 'user', content: '{"iid":7}' },
    ...Array.from({ length: 8 }, (_, at) => long(at)).flat(),
  ];

  test('is compacted and sent once more', async () => {
    const files: string[] = [];
    const compaction = createCompaction({
      contextLimit: 16_000,
      ratio: 0.9,
      side: null,
      keepFile: async (name) => {
        files.push(name);
        return `/tmp/_out/${name}`;
      },
      archive: async () => undefined,
    });
    const { result, requests, events } = await run([{ throws: TOO_LONG }, { text: 'It fits.' }], {
      messages: history(),
      contextLimit: 16_000,
      compaction,
    });
    expect(result).toMatchObject({ text: 'It fits.', ending: 'answered', iterations: 1 });
    expect(typesOf(events)).toContain('context-overflow');
    expect(typesOf(events)).toContain('compaction');
    expect(bytes(requests[1])).toBeLessThan(bytes(requests[0]) / 2);
    expect(files).toContain('look.json');
  });

  test('that is too long even so gets one last turn on what surely fits', async () => {
    const { result, requests, messages } = await run(
      [{ throws: TOO_LONG }, { text: 'What I know.', usage: { inputTokens: 900 } }],
      {
        messages: history(),
        contextLimit: 8_000,
      },
    );
    expect(result).toMatchObject({ text: 'What I know.', ending: 'context' });
    expect(requests[1]).toMatchObject({
      toolsDisabled: true,
      transient: expect.stringContaining(FINAL_TURN_WARNING),
    });
    expect(bytes(requests[1])).toBeLessThan(8_000);
    // What was cut for that turn is not lost, and its size is not taken for that of the whole.
    expect(messages.at(-1)).not.toHaveProperty('size');
    expect(messages).toHaveLength(18);
    expect(messages[2]).toEqual(long(0)[1]);
  });

  test('ends with an answer that the hooks have looked at', async () => {
    const withheld: Hooks = {
      afterModel: (turn) => ({ turn: { ...turn, message: { ...turn.message, content: '[withheld]' } } }),
    };
    const { result, messages } = await run([{ throws: TOO_LONG }, { text: 'the mark' }], {
      messages: history(),
      contextLimit: 8_000,
      hooks: [withheld],
    });
    expect(result.text).toBe('[withheld]');
    expect(JSON.stringify(messages)).not.toContain('the mark');
  });

  test('is cut further for a model whose window is smaller still', async () => {
    const { model, requests } = scriptedModel(() => ({ text: 'It fits.' }));
    const small: typeof model = {
      ...model,
      generate: (request) =>
        JSON.stringify(request.messages).length > 6_000 ? Promise.reject(TOO_LONG) : model.generate(request),
    };
    const { result } = await run([], { model: small, messages: history(), contextLimit: 100_000 });
    expect(result).toMatchObject({ text: 'It fits.', ending: 'context' });
    expect(requests).toHaveLength(1);
  });

  test('that no cutting helps ends as an error of the model', async () => {
    const { result } = await run(() => ({ throws: TOO_LONG }), { messages: history() });
    expect(result).toMatchObject({ ending: 'model-error', text: NO_FINAL_RESPONSE });
  });
});

describe('calls of one turn', () => {
  test('that only read run together, commands in their order, and the results come in the order of the calls', async () => {
    const log: string[] = [];
    const { toolbox } = scriptedTools(async ({ name, arguments: { at, ms } }) => {
      log.push(`${name}${at} starts`);
      await new Promise((resolve) => setTimeout(resolve, Number(ms)));
      log.push(`${name}${at} ends`);
      return { at };
    });
    const calls = [
      { name: 'read', arguments: { at: 1, ms: 40 } },
      { name: 'read', arguments: { at: 2, ms: 5 } },
      { name: 'exec', arguments: { at: 3, ms: 5 } },
      { name: 'exec', arguments: { at: 4, ms: 1 } },
      { name: 'read', arguments: { at: 5, ms: 1 } },
    ];
    const { messages } = await run([{ calls }, { text: 'Done.' }], {
      toolbox: { ...toolbox, isParallel: (name) => name === 'read' },
    });
    expect(log).toEqual([
      'read1 starts',
      'read2 starts',
      'read2 ends',
      'read1 ends',
      'exec3 starts',
      'exec3 ends',
      'exec4 starts',
      'exec4 ends',
      'read5 starts',
      'read5 ends',
    ]);
    const results = messages
      .filter(({ role }) => role === 'tool')
      .map(({ content }) => JSON.parse(content).at);
    expect(results).toEqual([1, 2, 3, 4, 5]);
  });

  test('are not begun any more once one has broken the run', async () => {
    let begun = 0;
    let running = 0;
    const { toolbox } = scriptedTools(async () => {
      begun += 1;
      running += 1;
      await new Promise((resolve) => setTimeout(resolve, 5));
      running -= 1;
      throw new Error('the sandbox is broken');
    });
    const calls = Array.from({ length: 30 }, () => look);
    const { result } = await run([{ calls }], { toolbox: { ...toolbox, isParallel: () => true } });
    expect(result.ending).toBe('unexpected-error');
    expect({ begun, running }).toEqual({ begun: 6, running: 0 });
  });

  test('are bounded, however many there are', async () => {
    let running = 0;
    let most = 0;
    const { toolbox } = scriptedTools(async () => {
      running += 1;
      most = Math.max(most, running);
      await new Promise((resolve) => setTimeout(resolve, 5));
      running -= 1;
      return { ok: true };
    });
    const calls = Array.from({ length: 30 }, () => look);
    await run([{ calls }, { text: 'Done.' }], { toolbox: { ...toolbox, isParallel: () => true } });
    expect(most).toBe(6);
  });
});

describe('a store that fails', () => {
  const stuck = () => new Promise<never>(() => undefined);

  test.each([
    ['the model breaks off', new ModelError('switch', 'the key was revoked'), 'model-error'],
    ['there is no money left', new ModelError('no-money', 'the limit is reached'), 'money'],
  ])('when %s costs nobody the best text there is', async (_what, throws, ending) => {
    const hooks: Hooks[] = [{ afterAgent: () => ({ sendBack: 'Look again.' }) }];
    const { result, events } = await run([{ text: 'It is the lock file.' }, { throws }], {
      hooks,
      checkpoint: () => Promise.reject(new Error('the store is down')),
    });
    expect(result).toMatchObject({ text: 'It is the lock file.', ending, reason: throws.message });
    expect(events.at(-1)).toMatchObject({ type: 'ended', ending });
  });

  test('does not hold up a stop for ever', async () => {
    vi.useFakeTimers();
    onTestFinished(() => void vi.useRealTimers());
    const controller = new AbortController();
    const running = run([{ calls: [look] }], {
      checkpoint: stuck,
      signal: controller.signal,
      maxDurationMs: 3_600_000,
    });
    await vi.advanceTimersByTimeAsync(100);
    controller.abort(new Error('the service stops'));
    await vi.advanceTimersByTimeAsync(10_000);
    expect((await running).result).toMatchObject({ ending: 'stopped', reason: 'the service stops' });
  });
});

describe('an interrupt', () => {
  test.each(['a model', 'a tool', 'a ledger', 'a hook'])(
    'ends %s that does not listen within a second',
    async (what) => {
      const controller = new AbortController();
      const never = new Promise<never>(() => undefined);
      const { toolbox } = scriptedTools(() => never);
      const model = { name: 'deaf', generate: () => never };
      setTimeout(() => controller.abort(new Error('the merge request was closed')), 20);
      const before = performance.now();
      const { result, messages } = await run([{ calls: [look] }], {
        ...(what === 'a model' && { model }),
        ...(what === 'a tool' && { toolbox }),
        ...(what === 'a ledger' && { model: { ...model, canGoOn: () => never } }),
        ...(what === 'a hook' && { hooks: [{ beforeTool: () => never }] }),
        signal: controller.signal,
      });
      expect(performance.now() - before).toBeLessThan(1_000);
      expect(result).toMatchObject({ ending: 'stopped', reason: 'the merge request was closed' });
      const resumed = await run([{ text: 'Done.' }], { messages });
      expect(resumed.result.ending).toBe('answered');
    },
  );
});

test('a run that nobody looks at any more gives up what is under way, and saves nothing of it', async () => {
  const { model } = scriptedModel([{ calls: [look] }]);
  const given = Promise.withResolvers<AbortSignal>();
  const { toolbox } = scriptedTools(async (_call, signal) => {
    given.resolve(signal);
    await once(signal, 'abort');
    return { ok: true };
  });
  const saved: Message[][] = [];
  const messages: Message[] = [{ role: 'user', content: '{"iid":7}' }];
  const loop = runLoop({
    model,
    toolbox,
    system: '',
    messages,
    maxIterations: 5,
    contextLimit: 1_000,
    maxOutputTokens: 100,
    checkpoint: async (all) => void saved.push([...all]),
    signal: new AbortController().signal,
  });
  for await (const { type } of loop) if (type === 'tool-started') break;
  expect((await given.promise).aborted).toBe(true);
  await new Promise(setImmediate);
  expect(saved).toEqual([]);
  expect(messages).toHaveLength(1);
});

function bytes(request: unknown): number {
  return JSON.stringify(request).length;
}

test('the system prompt has its layers in order, the continuation only for a reply', () => {
  const first = composeSystemPrompt({
    toolNotes: 'NOTES',
    workflow: 'WORKFLOW',
    isContinuation: false,
    mark: 'm',
  });
  const reply = composeSystemPrompt({
    toolNotes: 'NOTES',
    workflow: 'WORKFLOW',
    isContinuation: true,
    mark: 'm',
  });
  expect(first).toMatch(/You are Hummingbird[\s\S]*NOTES\n\nWORKFLOW\n\n\(Internal mark [^\n]*: m\)$/);
  expect(reply).toBe(first.replace('WORKFLOW', `WORKFLOW\n\n${CONTINUATION_PROMPT}`));
});
