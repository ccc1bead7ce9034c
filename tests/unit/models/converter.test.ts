import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { Message } from '../../../src/agent/messages.ts';
import { createConverter } from '../../../src/models/converter.ts';

const POOL: Message[] = Array.from({ length: 6 }, (_, n) => ({ role: 'user', content: `${n}` }));

/** What it makes of a message depends on those before it, as the ids of calls do; one of them it can not take. */
function begin(): (message: Message) => string {
  let before = '';
  return ({ content }) => {
    if (content === '5') throw new Error('not this one');
    before += content;
    return before;
  };
}

test('whatever was sent before, a conversation is converted as if it were the first', () => {
  const conversations = fc.array(fc.array(fc.constantFrom(...POOL), { maxLength: 6 }), { maxLength: 8 });
  fc.assert(
    fc.property(conversations, (sent) => {
      const convert = createConverter(begin);
      for (const messages of sent) {
        const afresh = () => createConverter(begin)(messages);
        if (messages.some(({ content }) => content === '5')) expect(() => convert(messages)).toThrow();
        else expect(convert(messages)).toEqual(afresh());
      }
    }),
  );
});

test('what was converted before is not converted again', () => {
  let count = 0;
  const convert = createConverter(() => () => {
    count += 1;
    return count;
  });
  const conversation = [...POOL];
  convert(conversation.slice(0, 4));
  expect(convert(conversation)).toEqual([1, 2, 3, 4, 5, 6]);
});
