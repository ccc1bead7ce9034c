import { describe, expect, test } from 'vitest';
import type { AgentEvent } from '../../../src/agent/events.ts';
import { type LoopOptions, type LoopResult, runLoop } from '../../../src/agent/loop.ts';
import type { Message } from '../../../src/agent/messages.ts';
import { ModelError } from '../../../src/agent/model.ts';
import {
  CONTEXT_WARNING,
  CONTINUATION_PROMPT,
  CUT_OFF_NUDGE,
  composeSystemPrompt,
  EMPTY_RESPONSE_NUDGE,
  FINAL_TURN_WARNING,
  ITERATION_WARNING,
  NO_FINAL_RESPONSE,
} from '../../../src/agent/prompts.ts';
import { type ScriptedTurn, scriptedModel, scriptedTools } from './scripted.ts';

const look = { name: 'look' };

async function run(
  turns: ScriptedTurn[] | ((index: number) => ScriptedTurn),
  options: Partial<LoopOptions> = {},
) {
  const { model, requests } = scriptedModel(turns);
  const { toolbox, executed } = scriptedTools();
  const messages: Message[] = options.messages ?? [{ role: 'user', content: '{"iid":7}' }];
  const saved: Message[][] = [];
  const loop = runLoop({
    model,
    toolbox,
    system: 'the system text',
    maxIterations: 10,
    contextLimit: 1_000,
    maxOutputTokens: 100,
    checkpoint: async (all) => void saved.push(structuredClone([...all])),
    signal: new AbortController().signal,
    ...options,
    messages,
  });
  const { events, result } = await drain(loop);
  return { result, events, requests, executed, messages, saved };
}

async function drain(loop: AsyncGenerator<AgentEvent, LoopResult>) {
  const events: AgentEvent[] = [];
  while (true) {
    const next = await loop.next();
    if (next.done) return { events, result: next.value };
    events.push(next.value);
  }
}

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

describe('the budget', () => {
  test('of turns warns at 80 % and ends with one turn without tools', async () => {
    const { result, requests, executed } = await run(
      (index) => (index < 9 ? { calls: [look] } : { text: 'All I know.' }),
      { maxIterations: 10 },
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
      { calls: [look], usage: { inputTokens: 10, cacheReadTokens: 700, cacheWriteTokens: 90 } },
      { calls: [look], usage: { inputTokens: 10, cacheReadTokens: 900, cacheWriteTokens: 90 } },
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
    expect(events.map(({ type }) => type)).toEqual([
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

test('the system prompt has its layers in order, the continuation only for a reply', () => {
  const first = composeSystemPrompt({ toolNotes: 'NOTES', workflow: 'WORKFLOW', isContinuation: false });
  const reply = composeSystemPrompt({ toolNotes: 'NOTES', workflow: 'WORKFLOW', isContinuation: true });
  expect(first).toMatch(/You are Hummingbird[\s\S]*NOTES\n\nWORKFLOW$/);
  expect(reply).toBe(`${first}\n\n${CONTINUATION_PROMPT}`);
});
