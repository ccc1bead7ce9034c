// Whatever was said, by whichever models, and whatever happened to it: every provider takes it and reads the same.
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { AssistantMessage, Message, UserMessage } from '../../../src/agent/messages.ts';
import { ModelError } from '../../../src/agent/model.ts';
import { repairHistory } from '../../../src/agent/repair-history.ts';
import { checkHistory } from '../../../src/models/check-history.ts';
import { sessionContext } from '../../../src/session/session-schema.ts';
import { run } from '../agent/run-loop.ts';
import type { ScriptedTurn } from '../agent/scripted.ts';
import { garbage, texts } from './conversation/arbitraries.ts';
import { damages, histories } from './conversation/conversations.ts';
import { type Conversation, joinTurns, type Provider, said } from './conversation/provider.ts';
import { providers } from './conversation/providers.ts';

const OPENING: UserMessage = { role: 'user', content: '{"iid":7}' };

describe.each(providers)('$author', (provider) => {
  test('takes any conversation of any models, and reads what was said', () => {
    fc.assert(
      fc.property(histories, fc.boolean(), (history, isTransient) => {
        expectTaken(provider, toConversation(history, isTransient));
      }),
    );
  });

  test('gets its own turns back to the letter, also after save and load, and nothing of the others', () => {
    fc.assert(
      fc.property(histories, (history) => {
        for (const messages of [history, saveAndLoad(history)]) {
          const wire = JSON.stringify(provider.toWire(toConversation(messages)));
          for (const { native } of turnsOf(messages)) {
            if (native?.author !== provider.author) continue;
            expect(wire).toContain(JSON.stringify(provider.nativeParts(native.content)).slice(1, -1));
          }
          for (const { author } of [...providers, { author: 'stranger' }])
            if (author !== provider.author) expect(wire).not.toContain(`sig-${author}`);
        }
      }),
    );
  });

  test('gets a turn as it is now, not as it was written', () => {
    fc.assert(
      fc.property(histories, fc.nat(), texts, fc.boolean(), (history, pick, text, isOfText) => {
        const indexes = history.flatMap(({ role }, index) => (role === 'assistant' ? [index] : []));
        const index = indexes[pick % indexes.length] ?? -1;
        const turn = history[index];
        fc.pre(turn?.role === 'assistant' && turn.content !== text);
        const toolCalls = turn.toolCalls.map((call) => ({ ...call, arguments: { changed: text } }));
        const changed = isOfText ? { ...turn, content: text } : { ...turn, toolCalls };
        fc.pre(isOfText || toolCalls.length > 0);
        expectTaken(provider, toConversation(history.with(index, changed)));
      }),
    );
  });

  test('gets a turn told when what was kept of it is not readable', () => {
    fc.assert(
      fc.property(histories, garbage, (history, content) => {
        const messages = history.map((message) =>
          message.role === 'assistant'
            ? { ...message, native: { author: provider.author, content } }
            : message,
        );
        expectTaken(provider, toConversation(messages));
      }),
    );
  });

  test('takes what is left of a damaged conversation once it is repaired', () => {
    fc.assert(
      fc.property(histories, damages, (history, damage) => {
        expectTaken(provider, toConversation(repairHistory(damage(history), OPENING).messages));
      }),
      { numRuns: 300 },
    );
  });

  test('takes what a crash between any two messages leaves, once it is loaded', () => {
    fc.assert(
      fc.property(histories, fc.nat(), (history, cut) => {
        const saved = saveAndLoad(history.slice(0, 1 + (cut % history.length)));
        expectTaken(provider, toConversation(repairHistory(saved, OPENING).messages));
      }),
    );
  });

  test('takes everything that a run saves on its way, without repair', async () => {
    await fc.assert(
      fc.asyncProperty(runs, fc.integer({ min: 1, max: 6 }), async (turns, maxIterations) => {
        const { saved } = await run((index) => turns[index % turns.length] ?? {}, { maxIterations });
        for (const messages of saved) {
          expect(repairHistory(messages, OPENING).repairs).toEqual([]);
          expectTaken(provider, toConversation(messages));
        }
      }),
    );
  });
});

describe('a repair', () => {
  test('leaves a valid conversation as it is', () => {
    fc.assert(
      fc.property(histories, (history) => {
        const { messages, repairs } = repairHistory(history, OPENING);
        expect(messages).toBe(history);
        expect(repairs).toEqual([]);
      }),
    );
  });

  test('happens when the conversation would be refused, and only then', () => {
    fc.assert(
      fc.property(histories, damages, (history, damage) => {
        const damaged = damage(history);
        const { messages, repairs } = repairHistory(damaged, OPENING);
        expect(isRefused(damaged)).toBe(repairs.length > 0);
        expect(isRefused(messages)).toBe(false);
        expect(repairHistory(messages, OPENING).repairs).toEqual([]);
      }),
      { numRuns: 300 },
    );
  });

  test('loses no word of anybody', () => {
    fc.assert(
      fc.property(histories, damages, (history, damage) => {
        const damaged = damage(history);
        const { messages } = repairHistory(damaged, OPENING);
        expect(wordsOf(messages.filter((message) => message !== OPENING))).toEqual(wordsOf(damaged));
      }),
      { numRuns: 300 },
    );
  });
});

/** As it would be sent: with something to answer at its end. */
function toConversation(history: readonly Message[], isTransient = false): Conversation {
  if (isTransient) return { messages: history, transient: 'Wrap up.' };
  if (history.at(-1)?.role !== 'assistant') return { messages: history };
  return { messages: [...history, { role: 'user', content: 'And now?' }] };
}

function expectTaken(provider: Provider, conversation: Conversation): void {
  checkHistory(conversation);
  const wire: unknown = JSON.parse(JSON.stringify(provider.toWire(conversation)));
  expect(provider.problemsOf(wire)).toEqual([]);
  expect(said(conversation)).toMatchObject(joinTurns(provider.read(wire)));
}

function saveAndLoad(messages: Message[]): Message[] {
  return sessionContext.parse(JSON.parse(JSON.stringify({ version: 1, messages }))).messages;
}

function turnsOf(messages: readonly Message[]): AssistantMessage[] {
  return messages.filter((message) => message.role === 'assistant');
}

function isRefused(messages: Message[]): boolean {
  try {
    checkHistory({ messages, transient: 'Wrap up.' });
    return false;
  } catch (error) {
    expect(error).toMatchObject({ name: 'ModelError', kind: 'stop' });
    return true;
  }
}

function wordsOf(messages: Message[]): string[] {
  return messages.flatMap(({ role, content }) => (role !== 'tool' && content.trim() !== '' ? [content] : []));
}

const runs: fc.Arbitrary<ScriptedTurn[]> = fc.array(
  fc.record(
    {
      text: texts,
      calls: fc.array(fc.constant({ name: 'look' }), { maxLength: 2 }),
      stop: fc.constantFrom('end', 'length'),
      throws: fc.constant(new ModelError('stop', 'it hurts')),
    },
    { requiredKeys: [] },
  ),
  { minLength: 1, maxLength: 6 },
);
