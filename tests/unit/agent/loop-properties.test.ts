import fc from 'fast-check';
import { expect, test } from 'vitest';
import { createCompaction } from '../../../src/agent/compaction.ts';
import { createGate } from '../../../src/agent/gate.ts';
import type { LoopOptions } from '../../../src/agent/loop.ts';
import type { Message } from '../../../src/agent/messages.ts';
import {
  type Model,
  ModelError,
  type ModelRequest,
  NO_USAGE,
  type ToolDefinition,
} from '../../../src/agent/model.ts';
import { NO_FINAL_RESPONSE, SUMMARY_HEADINGS } from '../../../src/agent/prompts.ts';
import { createRepeatGuard } from '../../../src/agent/repeats.ts';
import { checkHistory } from '../../../src/models/check-history.ts';
import { run } from './run-loop.ts';
import { type ScriptedTurn, scriptedModel, scriptedTools } from './scripted.ts';

const call = fc.record({
  name: fc.constantFrom('look', 'poll', 'no_such_tool'),
  arguments: fc.record({ at: fc.nat(3) }),
});
const turn: fc.Arbitrary<ScriptedTurn> = fc.record(
  {
    text: fc.constantFrom('', ' ', 'Let me see.', 'The lock file is stale.', 'x'.repeat(2_000)),
    calls: fc.array(call, { maxLength: 4 }),
    stop: fc.constantFrom('end', 'tool-calls', 'length', 'other'),
    usage: fc.record({
      inputTokens: fc.nat(3_000),
      cacheReadTokens: fc.nat(3_000),
      outputTokens: fc.nat(500),
    }),
    throws: fc.oneof(
      { weight: 20, arbitrary: fc.constant(undefined) },
      { weight: 1, arbitrary: fc.constant(new ModelError('too-long', 'prompt is too long')) },
      { weight: 1, arbitrary: fc.constant(new ModelError('retry', 'away')) },
      { weight: 1, arbitrary: fc.constant(new TypeError('oops')) },
    ),
  },
  { requiredKeys: [] },
);
const behaviourParts = {
  turns: fc.array(turn, { minLength: 1, maxLength: 12 }),
  maxIterations: fc.integer({ min: 1, max: 25 }),
  contextLimit: fc.integer({ min: 1_000, max: 20_000 }),
  ratio: fc.constantFrom(0, 0.3, 0.75),
  hasGuards: fc.boolean(),
  resultBytes: fc.constantFrom(10, 5_000),
  stopAt: fc.option(fc.nat(20), { nil: null }),
};
const behaviour = fc.record(behaviourParts);

test('whatever the model does, the loop ends within its caps, with a valid history and nothing transient in it', async () => {
  await fc.assert(
    fc.asyncProperty(behaviour, async (given) => {
      const { result, requests, saved, messages, events } = await perform(given);

      expect(events.at(-1)).toMatchObject({ type: 'ended', ending: result.ending });
      expect(result.text).not.toBe('');
      expect(result.iterations).toBeLessThanOrEqual(given.maxIterations);
      const turnsTaken = events.filter(({ type }) => type === 'turn-started').length;
      expect(turnsTaken).toBe(result.iterations);
      // A conversation that is too long is asked about again, shortened, at most twice.
      expect(requests.length).toBeLessThanOrEqual(3 * given.maxIterations);
      for (const request of requests)
        checkHistory({ messages: request.messages as Message[], transient: request.transient ?? '' });
      for (const checkpoint of [...saved, messages]) checkHistory({ messages: checkpoint, transient: 'x' });
      expect(JSON.stringify(saved)).not.toContain('[System notice]');
      const last = messages.at(-1);
      if (result.ending === 'answered')
        expect(last).toMatchObject({ role: 'assistant', content: result.text });
      if (result.text === NO_FINAL_RESPONSE) expect(result.ending).not.toBe('answered');
    }),
    { numRuns: 300 },
  );
});

test('no request is larger than the context limit, however its model counts, and whatever of it it tells', async () => {
  const counting = fc.record({
    ...behaviourParts,
    contextLimit: fc.integer({ min: 4_000, max: 20_000 }),
    bytesPerToken: fc.constantFrom(1, 2, 3, 4),
    sideText: fc.constantFrom('', SUMMARY_HEADINGS.join('\n')),
    tells: fc.constantFrom('all', 'nothing', 'input', 'output'),
    addedWords: fc.nat(3_000),
    addedTool: fc.nat(1_500),
  });
  await fc.assert(
    fc.asyncProperty(counting, async (given) => {
      const sizes: number[] = [];
      const { model } = scriptedModel((index) => {
        const { usage: _, throws: __, ...turn } = given.turns[index % given.turns.length] ?? {};
        return turn;
      });
      const countingModel: Model = {
        ...model,
        async generate(request) {
          const tokens = countTokens(request, given.bytesPerToken);
          sizes.push(tokens);
          const { message, ...rest } = await model.generate(request);
          const outputTokens = countTokens({ messages: [message] }, given.bytesPerToken);
          const isTold = (what: string): boolean => [what, 'all'].includes(given.tells);
          const usage = {
            ...NO_USAGE,
            inputTokens: isTold('input') ? tokens : 0,
            outputTokens: isTold('output') ? outputTokens : 0,
          };
          return { ...rest, message, usage };
        },
      };
      const { saved } = await perform(given, { model: countingModel });
      // Broken off, and begun again after the workflow and a server's tools have changed.
      for (const messages of saved.slice(-2)) {
        const system = 'Look well. '.repeat(given.addedWords / 11);
        await perform(given, { model: countingModel, messages, system }, 'z7'.repeat(given.addedTool / 2));
      }
      expect(Math.max(...sizes)).toBeLessThanOrEqual(given.contextLimit);
    }),
    { numRuns: 300 },
  );
});

test('a run that was broken off goes on where it was saved', async () => {
  await fc.assert(
    fc.asyncProperty(behaviour, async (given) => {
      const { saved } = await perform(given);
      for (const messages of saved.slice(-3)) {
        // An answer leaves nothing to ask; a reply does.
        const question: Message = { role: 'user', content: 'Go on.', noteId: 1 };
        const { result } = await run([{ text: 'Done.' }], {
          messages: [...messages, question],
          contextLimit: 1e6,
        });
        expect(result).toMatchObject({ text: 'Done.', ending: 'answered' });
      }
    }),
    { numRuns: 100 },
  );
});

/** What a vendor would count: the words of strangers may be as dense as can be, ours are not. */
function countTokens(
  { messages = [], system, tools, transient }: Partial<ModelRequest>,
  bytesPerToken: number,
): number {
  const said = messages.map((one) => [one.content, one.role === 'assistant' ? one.toolCalls : one.role]);
  const own = tools?.filter(({ isForeign }) => !isForeign);
  const foreign = tools?.filter(({ isForeign }) => isForeign);
  const ours = Buffer.byteLength(JSON.stringify([system, own])) / Math.max(3, bytesPerToken);
  return Math.ceil(Buffer.byteLength(JSON.stringify([transient, said, foreign])) / bytesPerToken + ours);
}

function perform(
  given: {
    turns: ScriptedTurn[];
    maxIterations: number;
    contextLimit: number;
    ratio: number;
    hasGuards: boolean;
    resultBytes: number;
    stopAt: number | null;
    sideText?: string;
  },
  options: Partial<LoopOptions> = {},
  foreignWords = '',
) {
  const controller = new AbortController();
  let executions = 0;
  const { toolbox } = scriptedTools(async ({ name }) => {
    executions += 1;
    if (executions === given.stopAt) controller.abort(new Error('stopped'));
    const text = 'y'.repeat(given.resultBytes);
    return name === 'look' ? { text } : { text, at: executions };
  });
  const compaction = createCompaction({
    contextLimit: given.contextLimit,
    ratio: given.ratio,
    side: scriptedModel((index) => ({ text: given.sideText ?? (index % 2 === 0 ? '## Goal' : '') })).model,
    keepFile: async (name) => `/tmp/_out/${executions}-${name}`,
    archive: async () => undefined,
  });
  return run((index) => given.turns[index % given.turns.length] ?? {}, {
    toolbox: {
      ...toolbox,
      definitions:
        foreignWords === '' ? toolbox.definitions : [...toolbox.definitions, toForeign(foreignWords)],
      isParallel: (name) => name === 'look',
    },
    maxIterations: given.maxIterations,
    contextLimit: given.contextLimit,
    ...(given.ratio > 0 && { compaction }),
    hooks: given.hasGuards ? [createRepeatGuard(), createGate({ judge: null })] : [],
    signal: controller.signal,
    ...options,
  });
}

function toForeign(description: string): ToolDefinition {
  return { name: 'wiki_search', description, inputSchema: { type: 'object' }, isForeign: true };
}
