import { expect, test } from 'vitest';
import { estimateTokens } from '../../../src/agent/estimate.ts';
import type { Message } from '../../../src/agent/messages.ts';

const question: Message = { role: 'user', content: 'ü'.repeat(500) };
const answered: Message = {
  role: 'assistant',
  content: 'x'.repeat(9_000),
  toolCalls: [],
  size: { tokens: 700, model: 'one' },
};
const request = { system: 's'.repeat(100), tools: [] };
const bound = { model: 'one', bytesPerToken: 1 };

test('what was never counted has at most a token for each byte', () => {
  const tokens = estimateTokens({ ...request, messages: [question] }, bound);
  expect(tokens).toBeGreaterThanOrEqual(1_100);
  expect(tokens).toBeLessThan(1_200);
});

test('what a model has counted is as large as it said, only the rest goes by bytes', () => {
  const messages = [question, answered, question];
  const tokens = estimateTokens({ ...request, messages, transient: 'w'.repeat(50) }, bound);
  expect(tokens).toBeGreaterThanOrEqual(1_750);
  expect(tokens).toBeLessThan(1_850);
});

test('another model may count twice as much', () => {
  const messages = [question, answered];
  expect(estimateTokens({ ...request, messages }, { ...bound, model: 'two' })).toBe(1_400);
});
