import { describe, expect, test } from 'vitest';
import type { Message } from '../../../src/agent/messages.ts';
import { checkHistory } from '../../../src/models/check-history.ts';
import { assistant, result, user } from './requests.ts';

describe('checkHistory', () => {
  test.each<[string, Message[], string]>([
    ['no messages', [], 'message 0 is missing'],
    ['a start by the model', [assistant('hi'), user('why?')], 'message 0 is not a user message'],
    ['an empty user message', [user(' \n')], 'message 0 (user) is empty'],
    ['an empty turn', [user('why?'), assistant(''), user('?')], 'message 1 (assistant) is empty'],
    ['an empty result', [user('why?'), assistant('', 'a'), result('a', '')], 'message 2 (tool) is empty'],
    [
      'an unanswered call',
      [user('why?'), assistant('', 'a', 'b'), result('a')],
      'message 1 calls sandbox_exec (b)',
    ],
    [
      'a late answer',
      [user('why?'), assistant('', 'a'), user('?'), result('a')],
      'message 1 calls sandbox_exec (a)',
    ],
    [
      'two answers',
      [user('why?'), assistant('', 'a'), result('a'), result('a')],
      'which is answered 2 times',
    ],
    [
      'two calls under one id',
      [user('why?'), assistant('', 'a', 'a'), result('a')],
      'message 1 calls twice under the id a',
    ],
    ['an answer to nothing', [user('why?'), result('a')], 'message 1 answers a call that was not made'],
    [
      'an answer to a text',
      [user('why?'), assistant('hi'), result('a')],
      'an answer to a, which it did not call',
    ],
    ['nothing to answer', [user('why?'), assistant('because')], 'message 1 is the last one'],
  ])('names %s', (_what, messages, problem) => {
    expect(() => checkHistory({ messages })).toThrow(
      expect.objectContaining({ kind: 'stop', message: expect.stringContaining(problem) }),
    );
  });

  test.each<[string, Message[], string | undefined]>([
    ['a question', [user('why?')], undefined],
    [
      'answers in another order',
      [user('why?'), assistant('', 'a', 'b'), result('b'), result('a')],
      undefined,
    ],
    ['a follow-up', [user('why?'), assistant('because'), user('and?')], undefined],
    ['transient words after an answer', [user('why?'), assistant('beca')], 'Go on.'],
  ])('lets %s pass', (_what, messages, transient) => {
    const request = transient === undefined ? { messages } : { messages, transient };

    expect(() => checkHistory(request)).not.toThrow();
  });
});
