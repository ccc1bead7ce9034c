import { expect, test } from 'vitest';
import { likelyTokens, mostTokens, nameFrame } from '../../../src/agent/estimate.ts';
import type { Message } from '../../../src/agent/messages.ts';

const question: Message = { role: 'user', content: 'ü'.repeat(500) };
const result: Message = {
  role: 'tool',
  toolCallId: 'a',
  name: 'look',
  content: '7'.repeat(1_000),
  isError: false,
};
const request = { system: 's'.repeat(300), tools: [] };
const answered: Message = {
  role: 'assistant',
  content: 'x'.repeat(9_000),
  toolCalls: [],
  size: { tokens: 700, model: 'one', frame: nameFrame({ ...request, messages: [] }) },
};

test('what was never counted has at most a token for each byte', () => {
  const tokens = mostTokens({ ...request, messages: [question] }, 'one');
  expect(tokens).toBeGreaterThanOrEqual(1_100);
  expect(tokens).toBeLessThan(1_200);
});

test('what a model has counted is as large as it said, only the rest goes by bytes', () => {
  const tokens = mostTokens(
    { ...request, messages: [question, answered, result], transient: 'w'.repeat(50) },
    'one',
  );
  expect(tokens).toBeGreaterThanOrEqual(1_750);
  expect(tokens).toBeLessThan(1_850);
});

test.each([
  ['a larger system text', { system: 's'.repeat(3_300) }, 1_650],
  ['more tools', { tools: [{ name: 'look', description: '1'.repeat(2_000), inputSchema: {} }] }, 2_150],
])('what was counted before %s came says nothing of that', (_what, change, least) => {
  const messages = [question, answered, result];
  const more = mostTokens({ ...request, ...change, messages }, 'one');
  expect(more - mostTokens({ ...request, messages }, 'one')).toBeGreaterThanOrEqual(least);
});

test('what was counted without the tools says nothing of them', () => {
  const tools = [{ name: 'look', description: '1'.repeat(2_000), inputSchema: {} }];
  const withoutFrame: Message = { ...answered, size: { tokens: 700, model: 'one' } };
  expect(mostTokens({ ...request, tools, messages: [question, withoutFrame] }, 'one')).toBeGreaterThan(2_700);
});

test('what another model has counted says nothing', () => {
  const messages = [question, answered];
  const uncounted = [question, { ...answered, size: undefined } as unknown as Message];
  expect(mostTokens({ ...request, messages }, 'two')).toBe(
    mostTokens({ ...request, messages: uncounted }, 'two'),
  );
});

test('what is likely is less than what is possible', () => {
  for (const messages of [[question], [question, answered, result]])
    expect(likelyTokens({ ...request, messages })).toBeLessThan(mostTokens({ ...request, messages }, 'one'));
});

test('digits, marks and other scripts in our own words may be a token for each byte, too', () => {
  const tokens = (system: string) => mostTokens({ ...request, system, messages: [question] }, 'one');
  expect(tokens('1'.repeat(900)) - tokens('')).toBe(900);
  expect(tokens('字'.repeat(300)) - tokens('')).toBe(900);
  expect(tokens('ok '.repeat(300)) - tokens('')).toBe(450);
});

test('of the tools that strangers describe each byte may be a token', () => {
  const tool = (isForeign: boolean) => ({
    name: 'a',
    description: 'ok '.repeat(300),
    inputSchema: {},
    isForeign,
  });
  const tokens = (tools: ReturnType<typeof tool>[]) =>
    mostTokens({ ...request, tools, messages: [question] }, 'one');
  expect(tokens([tool(true)]) - tokens([])).toBeGreaterThan(900);
  expect(tokens([tool(false)]) - tokens([])).toBeLessThan(600);
});
