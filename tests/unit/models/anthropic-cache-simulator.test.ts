import { describe, expect, test } from 'vitest';
import {
  type CacheRules,
  costOf,
  idealCache,
  noCache,
  type Recorded,
  simulateCache,
} from '../../../bench/anthropic-cache.ts';

interface Wire {
  model: string;
  tools?: object[];
  system?: object[] | string;
  messages: { role: string; content: object[] | string }[];
  [setting: string]: unknown;
}

const MARK = { cache_control: { type: 'ephemeral' } };
/** Everything is long enough. */
const NO_MINIMUM = { minimumTokens: 0 };

describe('an entry', () => {
  test.each([{ marks: [3, 5] }, { marks: [5] }])(
    'is written at a breakpoint, and read by the same prefix with the marks $marks',
    ({ marks }) => {
      expect(simulate([texts(3, [3]), texts(5, marks)])).toEqual([
        { readTokens: 0, writeTokens: 30, plainTokens: 0 },
        { readTokens: 30, writeTokens: 20, plainTokens: 0 },
      ]);
    },
  );

  test('is not written where nothing is marked', () => {
    expect(simulate([texts(3, []), texts(3, [3])])[1]?.readTokens).toBe(0);
  });

  test('leaves what comes after the last breakpoint at the plain price', () => {
    expect(simulate([texts(5, [3])])).toEqual([{ readTokens: 0, writeTokens: 30, plainTokens: 20 }]);
  });

  // The documentation's own example: 10, then 15, then 35 blocks.
  test('is found by looking back 20 places, the breakpoint itself being the first', () => {
    const run = [texts(10, [10]), texts(15, [15])];

    expect(readsOf([...run, texts(34, [34])])).toEqual([0, 100, 150]);
    expect(readsOf([...run, texts(35, [35])])).toEqual([0, 100, 0]);
    expect(readsOf([...run, texts(35, [15, 35])])).toEqual([0, 100, 150]);
  });

  test('is not pushed out of sight by calls or results in a row, which are one place', () => {
    const before = texts(2, [2]);
    const after: Wire = {
      ...texts(2, []),
      messages: [
        ...texts(2, []).messages,
        { role: 'assistant', content: Array.from({ length: 15 }, () => ({ type: 'tool_use' })) },
        {
          role: 'user',
          content: Array.from({ length: 15 }, (_, n) => ({ type: 'tool_result', ...(n === 14 && MARK) })),
        },
      ],
    };

    expect(readsOf([before, after])).toEqual([0, 20]);
    expect(readsOf([before, after], { ...NO_MINIMUM, lookback: 2 })).toEqual([0, 0]);
  });

  test('lives five minutes from the last request that used it', () => {
    const lastRead = (lastSecond: number): number | undefined =>
      simulateCache(
        [
          { atMs: 0, body: texts(3, [3]) },
          // Finds the entry by looking back, and does not write it anew.
          { atMs: 299_000, body: texts(5, [5]) },
          { atMs: lastSecond * 1000, body: texts(3, [3]) },
        ],
        NO_MINIMUM,
      ).at(-1)?.readTokens;

    expect(lastRead(598)).toBe(30);
    expect(lastRead(600)).toBe(0);
  });

  test('is not made of a prefix shorter than 1024 tokens, unless the model takes less', () => {
    const short = wireOf({ messages: [{ role: 'user', content: [block(1000), { ...block(23), ...MARK }] }] });
    const long = wireOf({ messages: [{ role: 'user', content: [block(1000), { ...block(24), ...MARK }] }] });

    expect(simulateCache(recorded([short, short]))).toEqual(noCache(recorded([short, short])));
    expect(simulateCache(recorded([long, long])).map(({ readTokens }) => readTokens)).toEqual([0, 1024]);
    expect(readsOf([short, short], { minimumTokens: 512 })).toEqual([0, 1023]);
  });
});

describe('a change', () => {
  const wire = wireOf({
    tools: [{ name: 'look' }, { name: 'run' }],
    system: [{ ...block(20), ...MARK }],
    messages: [{ role: 'user', content: [{ ...block(30), ...MARK }] }],
  });
  const toSystem = noCache(recorded([{ ...wire, messages: [] }]))[0]?.plainTokens ?? 0;

  test.each([
    ['nothing', {}, toSystem + 30],
    ['tool_choice', { tool_choice: { type: 'none' } }, toSystem],
    ['thinking', { thinking: { type: 'adaptive' } }, toSystem],
    ['a message', { messages: [{ role: 'user', content: [{ ...block(31), ...MARK }] }] }, toSystem],
    ['system', { system: [{ ...block(21), ...MARK }] }, 0],
    ['the order of the tools', { tools: [{ name: 'run' }, { name: 'look' }] }, 0],
    ['the model', { model: 'claude-other' }, 0],
    ['max_tokens', { max_tokens: 7 }, toSystem + 30],
  ])('of %s leaves what comes before it', (_, change, readTokens) => {
    expect(readsOf([wire, { ...wire, ...change }])).toEqual([0, readTokens]);
  });
});

describe('what the API refuses is an error:', () => {
  test.each([
    ['five breakpoints', texts(5, [1, 2, 3, 4, 5]), '400: 5 breakpoints'],
    ['one on thinking', marked({ type: 'thinking', thinking: 'Hm.' }), '400: a breakpoint on thinking'],
    ['one on hidden thinking', marked({ type: 'redacted_thinking' }), '400: a breakpoint on thinking'],
    ['one on an empty text', marked({ type: 'text', text: '' }), '400: a breakpoint on an empty text'],
  ])('%s', (_, wire, message) => {
    expect(() => simulate([wire])).toThrow(message);
  });

  test('four are fine', () => {
    expect(simulate([texts(5, [1, 2, 3, 4])])).toHaveLength(1);
  });
});

test.each([
  ['a life of an hour', marked({ type: 'text', text: 'x', cache_control: { type: 'ephemeral', ttl: '1h' } })],
  ['automatic caching', { ...texts(1, []), ...MARK }],
])('%s is not simulated, and says so', (_, wire) => {
  expect(() => simulate([wire])).toThrow();
});

test('a perfect cache reads all that was sent before and writes only what is read again', () => {
  const run = recorded([texts(3, []), { ...texts(5, []), tool_choice: { type: 'none' } }, texts(4, [])]);

  expect(idealCache(run)).toEqual([
    { readTokens: 0, writeTokens: 30, plainTokens: 0 },
    { readTokens: 30, writeTokens: 10, plainTokens: 10 },
    { readTokens: 40, writeTokens: 0, plainTokens: 0 },
  ]);
});

test('a write costs 1.25 and a read 0.1 of plain input', () => {
  const bills = [
    { readTokens: 1000, writeTokens: 100, plainTokens: 10 },
    { readTokens: 0, writeTokens: 0, plainTokens: 5 },
  ];

  expect(costOf(bills)).toBeCloseTo(100 + 125 + 10 + 5);
});

test('a text is the same as one block of it, and a system prompt counts', () => {
  const asText = wireOf({ system: 'You are.', messages: [{ role: 'user', content: 'Why?' }] });
  const asBlocks = wireOf({
    system: [{ type: 'text', text: 'You are.' }],
    messages: [{ role: 'user', content: [{ type: 'text', text: 'Why?', ...MARK }] }],
  });

  expect(noCache(recorded([asText]))).toEqual(noCache(recorded([asBlocks])));
  expect(readsOf([asBlocks, asBlocks])).toEqual([0, Math.ceil(33 / 4) + Math.ceil(29 / 4)]);
});

function wireOf(parts: Partial<Wire>): Wire {
  return { model: 'claude', messages: [], ...parts };
}

/** A user's message of so many blocks, ten tokens each; those of the given numbers, from 1, are marked. */
function texts(count: number, marks: number[]): Wire {
  const content = Array.from({ length: count }, (_, index) => ({
    ...block(10, `${index} `),
    ...(marks.includes(index + 1) && MARK),
  }));
  return wireOf({ messages: [{ role: 'user', content }] });
}

/** As many tokens as told, by the simulator's rule. */
function block(tokens: number, start = ''): object {
  const frame = JSON.stringify({ type: 'text', text: '' }).length;
  return { type: 'text', text: start.padEnd(4 * tokens - frame, 'x') };
}

function marked(one: object): Wire {
  return wireOf({ messages: [{ role: 'user', content: [{ ...MARK, ...one }] }] });
}

function recorded(wires: object[]): Recorded[] {
  return wires.map((body, index) => ({ atMs: index * 1000, body }));
}

function simulate(wires: object[], rules: Partial<CacheRules> = NO_MINIMUM) {
  return simulateCache(recorded(wires), rules);
}

function readsOf(wires: object[], rules?: Partial<CacheRules>): number[] {
  return simulate(wires, rules).map(({ readTokens }) => readTokens);
}
