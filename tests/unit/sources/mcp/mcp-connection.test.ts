// Connections that are lost, and made anew.

import { Agent } from 'undici';
import { expect, onTestFinished, test, vi } from 'vitest';
import { failureOf } from '../../gitlab/gitlab-server.ts';
import { call } from '../../tools/calling.ts';
import { attach, STDIO, TOOLS } from './attach.ts';
import { startBareServer } from './bare-server.ts';
import { startWiki } from './wiki-http.ts';

test('a server that was started anew is connected to again', async () => {
  const wiki = await startWiki();
  const { toolbox } = await attach({ kind: 'http', url: wiki.url });
  wiki.forget();

  expect(await call(toolbox, 'wiki_get_page', { id: 1 })).toMatchObject({ isError: false });
});

test('two calls that lose the session at once share one new connection', async () => {
  const pairs = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  let calls = 0;
  let connects = 0;
  const { url } = await startBareServer(
    async (answer, response) => {
      calls += 1;
      const isLost = calls <= 2;
      // Answered together, so that neither is done before the other has asked.
      const pair = pairs[isLost ? 0 : 1];
      if (calls % 2 === 0) pair?.resolve();
      await pair?.promise;
      if (isLost) return response.writeHead(404).end();
      return response.end(answer({ content: [{ type: 'text', text: 'here' }] }));
    },
    {
      onInitialize: async (count) => {
        connects = count;
      },
    },
  );
  const { toolbox } = await attach({ kind: 'http', url });

  const outcomes = await Promise.all(TOOLS.map((tool) => call(toolbox, `wiki_${tool}`, {})));

  expect(outcomes).toMatchObject([{ isError: false }, { isError: false }]);
  expect(connects).toBe(2);
});

test('an abort does not wait for a connection that is being made anew', async () => {
  const again = Promise.withResolvers<void>();
  const { url } = await startBareServer((_, response) => response.writeHead(404).end(), {
    async onInitialize(count) {
      if (count === 1) return;
      again.resolve();
      await new Promise(() => undefined);
    },
  });
  const { toolbox } = await attach({ kind: 'http', url }, { timeoutMs: 2_000 });
  const controller = new AbortController();
  const reason = new Error('a newer commit was pushed');

  const calling = failureOf(call(toolbox, 'wiki_get_page', {}, controller.signal));
  await again.promise;
  const abortedAt = performance.now();
  controller.abort(reason);

  expect(await calling).toBe(reason);
  expect(performance.now() - abortedAt).toBeLessThan(1_000);
});

test('a process that died in a call is a gap, and is started again for the next one', async () => {
  const { toolbox } = await attach(STDIO);

  const died = await call(toolbox, 'wiki_get_page', { id: 500 });
  const next = await call(toolbox, 'wiki_get_page', { id: 1 });

  expect(died.result.error).toMatch(/^wiki_get_page: MCP server wiki, get_page: .*closed/i);
  expect(next).toMatchObject({ isError: false });
});

test.each([
  { status: 400, body: 'Bad Request: No valid session ID provided' },
  { status: 404, body: '' },
])('a session that is forgotten with $status is opened anew', async (refusal) => {
  let isForgotten = false;
  const { url } = await startBareServer((answer, response) => response.end(answer({ content: [] })), {
    refuse(method) {
      if (method === 'initialize') isForgotten = false;
      return isForgotten ? refusal : undefined;
    },
  });
  const { toolbox } = await attach({ kind: 'http', url });
  isForgotten = true;

  expect(await call(toolbox, 'wiki_get_page')).toMatchObject({ isError: false });
});

test('a server that was replaced by one whose tool writes is not asked any more', async () => {
  let isReplaced = false;
  let isForgotten = false;
  const calls: unknown[] = [];
  const { url } = await startBareServer((answer, response) => response.end(answer({ content: [] })), {
    listTools: () => ({
      tools: TOOLS.map((name) => ({
        name,
        inputSchema: { type: 'object' },
        annotations: { readOnlyHint: !isReplaced },
      })),
    }),
    onCall: (args) => calls.push(args),
    refuse(method) {
      if (method === 'initialize') isForgotten = false;
      return isForgotten ? { status: 404 } : undefined;
    },
  });
  const { toolbox } = await attach({ kind: 'http', url });
  isReplaced = true;
  isForgotten = true;

  const { result } = await call(toolbox, 'wiki_get_page', {});

  expect(result.error).toContain('get_page of MCP server wiki says that it does not only read');
  expect(toolbox.gaps()).toEqual(['wiki_get_page']);
  expect(calls).toEqual([]);
});

test('a call whose new connection fails takes no other call with it', async () => {
  const leaving = holdLeaving();
  const answered = Promise.withResolvers<void>();
  let connects = 0;
  let calls = 0;
  const { url } = await startBareServer(
    async (answer, response) => {
      calls += 1;
      if (calls === 1) return response.writeHead(404).end();
      await answered.promise;
      return response.end(answer({ content: [{ type: 'text', text: 'here' }] }));
    },
    {
      refuse(method) {
        if (method === 'initialize') connects += 1;
        return method === 'initialize' && connects === 2 ? { status: 404 } : undefined;
      },
    },
  );
  const { toolbox } = await attach({ kind: 'http', url });

  // The first loses the session; the second finds none, and the one it opens is refused.
  const first = call(toolbox, 'wiki_get_page');
  const leaveLost = await leaving.next();
  const second = call(toolbox, 'wiki_search_pages');
  const leaveRefused = await leaving.next();
  // Before it has noticed, the first asks on a third one.
  leaveLost();
  await vi.waitUntil(() => calls === 2, 10_000);
  leaveRefused();
  leaving.letGo();
  await vi.waitUntil(() => calls === 3, 10_000);
  answered.resolve();

  expect(await first).toMatchObject({ isError: false });
  expect(await second).toMatchObject({ isError: false });
  expect(connects).toBe(3);
});

/** Connections that are left take as long to close as the test wants. */
function holdLeaving() {
  const held: (() => void)[] = [];
  let isHeld = true;
  const destroy = Agent.prototype.destroy;
  async function leaveSlowly(this: Agent, ...args: []) {
    const { promise, resolve } = Promise.withResolvers<void>();
    // With arguments it is undici that calls itself.
    if (isHeld && args.length === 0) {
      held.push(resolve);
      await promise;
    }
    return destroy.apply(this, args);
  }
  const spy = vi.spyOn(Agent.prototype, 'destroy').mockImplementation(leaveSlowly as typeof destroy);
  onTestFinished(() => spy.mockRestore());
  return {
    next: () => vi.waitUntil(() => held.shift(), 10_000),
    letGo() {
      isHeld = false;
      for (const go of held) go();
    },
  };
}
