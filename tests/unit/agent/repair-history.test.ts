import { expect, test } from 'vitest';
import type { Message, UserMessage } from '../../../src/agent/messages.ts';
import { repairHistory } from '../../../src/agent/repair-history.ts';
import { assistant, result, user } from '../models/requests.ts';

const event: UserMessage = { role: 'user', content: '{"iid":7}' };
const lost = (id: string) => result(id, expect.stringMatching(/^\{"error":"sandbox_exec: interrupted/), true);

test.each<[string, Message[], Message[], string[]]>([
  [
    'calls of an interrupted turn are answered, and the turn is no answer',
    [event, assistant('Let me see.', 'a', 'b')],
    [event, assistant('Let me see.', 'a', 'b'), lost('a'), lost('b')],
    [
      'sandbox_exec (a) has no result: answered as interrupted',
      'sandbox_exec (b) has no result: answered as interrupted',
    ],
  ],
  [
    'a result that is there is kept, and the missing one comes before the next word',
    [event, assistant('', 'a', 'b'), result('b'), user('And?')],
    [event, assistant('', 'a', 'b'), result('b'), lost('a'), user('And?')],
    ['sandbox_exec (a) has no result: answered as interrupted'],
  ],
  [
    'of two results the first one counts',
    [event, assistant('', 'a'), result('a', '{"n":1}'), result('a', '{"n":2}')],
    [event, assistant('', 'a'), result('a', '{"n":1}')],
    ['message 3 answers a, which nobody waits for: removed'],
  ],
  [
    'a result that comes too late is removed',
    [event, assistant('', 'a'), user('And?'), result('a')],
    [event, assistant('', 'a'), lost('a'), user('And?')],
    [
      'sandbox_exec (a) has no result: answered as interrupted',
      'message 3 answers a, which nobody waits for: removed',
    ],
  ],
  [
    'what is empty is removed, also when it hides the place of a result',
    [event, assistant(''), user(' \n'), assistant('', 'a'), user(''), result('a')],
    [event, assistant('', 'a'), result('a')],
    [
      'message 1 (assistant) is empty: removed',
      'message 2 (user) is empty: removed',
      'message 4 (user) is empty: removed',
    ],
  ],
  [
    'an empty result is none',
    [event, assistant('', 'a'), result('a', '')],
    [event, assistant('', 'a'), lost('a')],
    ['message 2 (tool) is empty: removed', 'sandbox_exec (a) has no result: answered as interrupted'],
  ],
  [
    'a conversation without its beginning gets the event',
    [result('x'), assistant('', 'a'), result('a'), user('And?')],
    [event, assistant('', 'a'), result('a'), user('And?')],
    [
      'message 0 answers x, which nobody waits for: removed',
      'message 1 (assistant) is the first one: put behind the event',
    ],
  ],
  ['no conversation is one with the event', [], [event], ['nothing was said: begun with the event']],
])('%s', (_what, damaged, messages, repairs) => {
  expect(repairHistory(damaged, event)).toEqual({ messages, repairs });
});

test('a turn that is repaired is no longer what its provider wrote; the others are', () => {
  const native = { author: 'anthropic', content: [{ type: 'thinking' }] };
  const size = { tokens: 9, model: 'anthropic/claude' };
  const whole = { ...assistant('', 'a'), native, size };
  const double = { ...assistant('', 'b', 'b'), native, size };

  const { messages } = repairHistory([event, whole, result('a'), double, result('b')], event);

  expect(messages).toEqual([
    event,
    { ...assistant('', 'a'), native },
    result('a'),
    assistant('', 'b'),
    result('b'),
  ]);
});

test.each([
  ['a follow-up', [event, assistant('because'), user('and?')]],
  ['results in another order', [event, assistant('', 'a', 'b'), result('b'), result('a')]],
  ['a turn in two pieces', [event, assistant('Beca'), assistant('use.')]],
])('%s comes back as it is', (_what, history: Message[]) => {
  const { messages, repairs } = repairHistory(history, event);
  expect(messages).toBe(history);
  expect(repairs).toEqual([]);
});
