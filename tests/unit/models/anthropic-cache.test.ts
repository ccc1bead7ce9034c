import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { type Bill, idealCache, simulateCache } from '../../../bench/anthropic-cache.ts';
import { recordLongRun } from '../../../bench/long-run.ts';
import type { Message } from '../../../src/agent/messages.ts';
import type { ModelRequest } from '../../../src/agent/model.ts';
import { FINAL_TURN_WARNING, ITERATION_WARNING } from '../../../src/agent/prompts.ts';
import { createAnthropicModel } from '../../../src/models/anthropic.ts';
import { failWith, type Sent, startWire, type Wire } from '../../services/model-wire.ts';
import { assistant, KEY, requestOf, result, user } from './requests.ts';

const MARK = ',"cache_control":{"type":"ephemeral"}';
const WORDS = 'Wrap up.';
const E = { transient: WORDS };

let wire: Wire;
beforeAll(async () => {
  wire = await startWire();
});
beforeEach(() => {
  wire.reset();
  wire.mock.on({}, { content: 'ok' });
});
afterAll(() => wire.close());

describe('breakpoints', () => {
  test('stand where the table of the specification says', async () => {
    expect(await wireOf([historyOf(0)], [historyOf(1)], [historyOf(2), E], [historyOf(3), E], [historyOf(4)])) //
      .toEqual([
        'U1·B2',
        'U1·B1  M1  U2·B2',
        'U1  M1  U2·B1  M2·B2  U3+E',
        'U1  M1  U2  M2·B1  U3  M3·B2  U4+E',
        'U1  M1  U2  M2  U3  M3·B1  U4  M4  U5·B2',
      ]);
  });

  test('are absent when the only message ends with transient words, which moves nothing', async () => {
    expect(await wireOf([historyOf(0), E], [historyOf(0)], [historyOf(1)])).toEqual([
      'U1+E',
      'U1·B2',
      'U1·B1  M1  U2·B2',
    ]);
  });

  test('stay before the transient words when nothing else was added', async () => {
    expect(await wireOf([historyOf(1)], [historyOf(1), E], [historyOf(2)])).toEqual([
      'U1  M1  U2·B2',
      'U1  M1  U2·B2+E',
      'U1  M1  U2·B1  M2  U3·B2',
    ]);
  });

  test('are not taken for written by a request that failed', async () => {
    const one = model();
    await one.generate(requestOf(historyOf(0)));
    wire.reply(failWith(529, { type: 'error', error: { type: 'overloaded_error', message: 'busy' } }));
    await expect(one.generate(requestOf(historyOf(1)))).rejects.toMatchObject({ kind: 'retry' });

    await one.generate(requestOf(historyOf(1)));

    expect(toTable(wire.last())).toBe('U1·B1  M1  U2·B2');
  });

  test('are gone with the history they stood in', async () => {
    expect(await wireOf([historyOf(4)], [historyOf(1)], [historyOf(2)])).toEqual([
      'U1  M1  U2  M2  U3  M3  U4  M4  U5·B2',
      'U1  M1  U2·B2',
      'U1  M1  U2·B1  M2  U3·B2',
    ]);
  });

  test('never stand on thinking, and never in the saved conversation', async () => {
    const thought = { type: 'thinking', thinking: 'Hm.', signature: 's' };
    const spoken = { type: 'text', text: 'So.' };
    const saved = { ...assistant('So.'), native: { author: 'anthropic', content: [spoken, thought] } };

    await model().generate(requestOf([U1, saved, user('U2')], E));

    expect(wire.last().body.messages).toHaveProperty('1.content', [
      { ...spoken, cache_control: { type: 'ephemeral' } },
      thought,
    ]);
    expect(saved.native.content).toEqual([spoken, thought]);
  });
});

describe('a run of 40 turns', () => {
  let run: Awaited<ReturnType<typeof recordLongRun>>;
  beforeAll(async () => {
    run = await recordLongRun({ turns: 40, maxIterations: 40 });
  });

  test('calls tools, and is told to wrap up in its last fifth', () => {
    const warned = run.map(({ bytes }) => bytes.includes(ITERATION_WARNING));

    expect(warned).toEqual(run.map((_, index) => index >= 31 && index < 39));
    expect(run).toHaveLength(40);
    expect(run.at(-1)?.bytes.match(/"type":"tool_result"/g)?.length).toBeGreaterThan(40);
    expect(run.map(({ body }) => body.tool_choice)).toEqual([...Array(39), { type: 'none' }]);
  });

  test('only ever adds to what it sent before, byte by byte', () => {
    const stable = run.map(({ bytes }) =>
      bytes
        .replaceAll(MARK, '')
        .replace(/,\{"type":"text","text":"\[System notice\][^"]*"\}\]\}\]\}$/, ']}]}')
        .replace('"tool_choice":{"type":"none"},', ''),
    );

    for (const [index, bytes] of stable.slice(1).entries()) {
      const before = stable[index]?.slice(0, -']}'.length) ?? '';
      expect(bytes.slice(0, before.length)).toBe(before);
    }
    expect(stable.join()).not.toMatch(/cache_control|System notice/);
    expect(run.at(-1)?.bytes).toContain(FINAL_TURN_WARNING);
  });

  // With a look-back of one, an entry is found only by a breakpoint that stands exactly where it was written.
  test.each([20, 1])('reads 98 % of what a perfect cache would, looking back %i places', (lookback) => {
    // The last turn forbids tools, which no cached conversation survives.
    const free = run.slice(0, -1);

    expect(reads(simulateCache(free, { lookback }))).toBeGreaterThan(0.98 * reads(idealCache(free)));
  });
});

const U1 = user('U1');

/** Each step two calls and their results, so that the last block is not the only one. */
function historyOf(steps: number, first: Message = U1): Message[] {
  const step = (n: number): Message[] => [assistant('', `a${n}`, `b${n}`), result(`a${n}`), result(`b${n}`)];
  return [first, ...Array.from({ length: steps }, (_, n) => step(n)).flat()];
}

async function wireOf(...calls: [Message[], Partial<ModelRequest>?][]): Promise<string[]> {
  const one = model();
  for (const [messages, more] of calls) await one.generate(requestOf(messages, more));
  return wire.sent.map(toTable);
}

/** The request in the words of the table: U is a user's message, M the model's, E the transient words at its end. */
function toTable({ bytes, body }: Sent): string {
  const messages = body.messages as { role: string; content: object[] }[];
  const marks = bytes.split(MARK).length - 1;
  let left = marks;
  const words = messages.map(({ role, content }, index) => {
    const isEphemeral = content.length > 1 && JSON.stringify(content.at(-1)).includes(WORDS);
    const last = content.at(isEphemeral ? -2 : -1) ?? {};
    const name = `${role === 'user' ? 'U' : 'M'}${Math.floor(index / 2) + 1}`;
    // The last mark is always B2.
    const mark = 'cache_control' in last ? `·B${left-- === 1 ? 2 : 1}` : '';
    return name + mark + (isEphemeral ? '+E' : '');
  });
  if (left > 0) throw new Error(`${left} of ${marks} marks are not at the end of a message`);
  return words.join('  ');
}

function model() {
  return createAnthropicModel({ model: 'claude-sonnet-5-5', apiKey: KEY, baseUrl: wire.url });
}

function reads(bills: Bill[]): number {
  return bills.reduce((sum, { readTokens }) => sum + readTokens, 0);
}
