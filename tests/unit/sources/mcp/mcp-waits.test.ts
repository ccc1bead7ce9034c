// A server that asks us to come back later.
import { describe, expect, test } from 'vitest';
import { createFakeClock } from '../../gitlab/gitlab-server.ts';
import { call } from '../../tools/calling.ts';
import { attach } from './attach.ts';
import { type Refusal, startBareServer } from './bare-server.ts';

const CALL = 'tools/call';

/** Refuses the first `times` requests of that method, as long as `isOn`. */
async function attachTo(refusal: Refusal, { method = CALL, times = 1, token = 'hush' } = {}) {
  const clock = createFakeClock();
  let left = times;
  const server = await startBareServer(
    (answer, response) => response.end(answer({ content: [{ type: 'text', text: 'here' }] })),
    {
      refuse(asked = 'GET') {
        if (asked !== method || left === 0) return undefined;
        left -= 1;
        return refusal;
      },
    },
  );
  const attached = await attach({ kind: 'http', url: server.url, token }, {}, { clock });
  const sleptMs = () => clock.slept.reduce((sum, ms) => sum + ms, 0);
  const asked = () => server.methods.filter((one) => one === method).length;
  return { ...attached, clock, sleptMs, asked };
}

test.each([429, 503])('%i is obeyed: the call is made again after the time it asks for', async (status) => {
  const { toolbox, sleptMs, asked } = await attachTo({ status, headers: { 'retry-after': '7' } });

  const { result } = await call(toolbox, 'wiki_get_page');

  expect(result).toEqual({ result: 'here' });
  expect(asked()).toBe(2);
  expect(sleptMs()).toBeGreaterThanOrEqual(7_000);
  expect(toolbox.gaps()).toEqual([]);
});

test.each(['initialize', 'notifications/initialized', 'tools/list'])(
  'so it is when the connection is made: %s',
  async (method) => {
    const { sleptMs } = await attachTo({ status: 429, headers: { 'retry-after': '7' } }, { method });

    expect(sleptMs()).toBeGreaterThanOrEqual(7_000);
  },
);

test('a stream of news that is refused harms no call', async () => {
  const refusal = { status: 429, headers: { 'retry-after': '600' } };
  const { toolbox } = await attachTo(refusal, { method: 'GET', times: 9 });

  expect(await call(toolbox, 'wiki_get_page')).toMatchObject({ isError: false });
});

describe('a wait that is too long', () => {
  const forLong = { 'retry-after': '600' };

  test('is a gap at once, and so is what would be asked within it', async () => {
    const { toolbox, clock, asked } = await attachTo({ status: 429, headers: forLong }, { times: 9 });

    const first = await call(toolbox, 'wiki_get_page');
    const second = await call(toolbox, 'wiki_search_pages');

    expect(first.result.error).toMatch(/^wiki_get_page: MCP server wiki, get_page, was answered 429/);
    expect(second.result.error).toContain('MCP server wiki asked for a pause of 600 s more');
    expect(toolbox.gaps()).toEqual(['wiki_get_page', 'wiki_search_pages']);
    expect(asked()).toBe(1);
    expect(clock.slept).toEqual([]);
  });

  test('of an outage too', async () => {
    const { toolbox, clock } = await attachTo({ status: 503, headers: forLong });

    expect((await call(toolbox, 'wiki_get_page')).result.error).toContain('was answered 503');
    expect(clock.slept).toEqual([]);
  });
});

test('without a time it is asked a few times more, and given up with its words', async () => {
  const refusal = { status: 502, body: '{"message":"hush is not served now"}' };
  const { toolbox, clock, asked } = await attachTo(refusal, { times: 9 });

  const { result } = await call(toolbox, 'wiki_get_page');

  expect(result.error).toContain('MCP server wiki, get_page, was answered 502: [secret] is not served now');
  expect(asked()).toBe(4);
  expect(clock.slept).toHaveLength(3);
});

test('an answer that uses up the allowance holds back the next call', async () => {
  const clock = createFakeClock();
  const { url } = await startBareServer((answer, response) =>
    response
      .setHeader('ratelimit-remaining', '0')
      .setHeader('ratelimit-reset', '30')
      .end(answer({ content: [] })),
  );
  const { toolbox } = await attach({ kind: 'http', url }, {}, { clock });

  await call(toolbox, 'wiki_get_page');
  expect(clock.slept).toEqual([]);
  await call(toolbox, 'wiki_get_page');

  expect(clock.slept).toEqual([30_000]);
});

test('an abort ends the wait', async () => {
  const { url } = await startBareServer((_, response) =>
    response.writeHead(429, { 'retry-after': '50' }).end(),
  );
  const waiting = Promise.withResolvers<void>();
  const log = { debug: () => undefined, warn: () => waiting.resolve() };
  const { toolbox } = await attach({ kind: 'http', url }, {}, { log });
  const controller = new AbortController();
  const reason = new Error('a newer commit was pushed');

  const calling = call(toolbox, 'wiki_get_page', {}, controller.signal);
  await waiting.promise;
  controller.abort(reason);

  await expect(calling).rejects.toBe(reason);
});
