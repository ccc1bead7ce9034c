// What every adapter promises the loop, on the real wire.
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { inspect } from 'node:util';
import { afterAll, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest';
import type { AssistantMessage } from '../../../src/agent/messages.ts';
import type { Delta } from '../../../src/agent/model.ts';
import { withRetry } from '../../../src/models/with-retry.ts';
import { failWith, startWire, type Wire } from '../../services/model-wire.ts';
import { adapters } from './adapters.ts';
import { assistant, requestOf, result, user } from './requests.ts';

let wire: Wire;
beforeAll(async () => {
  wire = await startWire();
});
beforeEach(() => wire.reset());
afterAll(() => wire.close());

const CALLS = [
  { id: 'call_a', name: 'sandbox_exec', arguments: { command: 'ls' } },
  { id: 'call_b', name: 'sandbox_exec', arguments: { command: 'cat log | tail', lines: 5 } },
];
const FIXTURE_CALLS = CALLS.map((call) => ({ ...call, arguments: JSON.stringify(call.arguments) }));

describe.each(adapters)('$name', (adapter) => {
  const { provider, create, secret, stream, tooLong, errorBody, read, words } = adapter;

  test('a text is the end of the turn', async () => {
    wire.mock.on({}, { content: 'The link step ran out of memory.' });

    const turn = await create(wire.url).generate(requestOf([user('why?')]));

    expect(turn.stop).toBe('end');
    expect(turn.message).toMatchObject({
      role: 'assistant',
      content: 'The link step ran out of memory.',
      toolCalls: [],
      native: { author: provider },
    });
  });

  test('the request carries system, tools and the output limit', async () => {
    wire.mock.on({}, { content: 'ok' });
    const request = requestOf([user('why?')]);

    await create(wire.url).generate(request);

    const sent = read(wire.last());
    expect(sent.system).toBe(request.system);
    expect(sent.maxTokens).toBe(1234);
    expect(sent.tools).toEqual(request.tools.map((tool) => [tool.name, tool.description, tool.inputSchema]));
    expect(sent.disabled).toBe(false);
    expect(sent.turns).toEqual([{ role: 'user', parts: [words('why?')] }]);
  });

  test('parallel calls come out whole and in order', async () => {
    wire.mock.on({}, { toolCalls: FIXTURE_CALLS }, { chunkSize: 3 });

    const turn = await create(wire.url).generate(requestOf([user('why?')]));

    expect(turn.stop).toBe('tool-calls');
    expect(turn.message.content).toBe('');
    expect(turn.message.toolCalls).toEqual(CALLS);
  });

  test('a text beside calls is kept', async () => {
    wire.mock.on({}, { content: 'Let me look.', toolCalls: FIXTURE_CALLS });

    const turn = await create(wire.url).generate(requestOf([user('why?')]));

    expect(turn.stop).toBe('tool-calls');
    expect(turn.message.content).toBe('Let me look.');
    expect(turn.message.toolCalls).toEqual(CALLS);
  });

  test('an empty response is an empty message with nothing to replay', async () => {
    wire.mock.on({}, { content: '' });

    const turn = await create(wire.url).generate(requestOf([user('why?')]));

    expect(turn.message).toEqual({ role: 'assistant', content: '', toolCalls: [] });
    expect(turn.stop).toBe('end');
  });

  test('an answer cut off by the limit says so', async () => {
    wire.mock.on({}, { content: 'The link st', finishReason: 'length' });

    const turn = await create(wire.url).generate(requestOf([user('why?')]));

    expect(turn).toMatchObject({ stop: 'length', message: { content: 'The link st' } });
  });

  test('thinking is heard but is no part of the answer', async () => {
    wire.mock.on({}, { content: 'Memory.', reasoning: 'The log says Killed.' }, { chunkSize: 4 });
    const deltas: Delta[] = [];

    const turn = await create(wire.url).generate(
      requestOf([user('why?')], { onDelta: (delta) => deltas.push(delta) }),
    );

    const heard = (kind: Delta['kind']) =>
      deltas.flatMap((delta) => (delta.kind === kind ? [delta.text] : [])).join('');
    expect(turn.message.content).toBe('Memory.');
    expect(heard('thinking')).toBe('The log says Killed.');
    expect(heard('text')).toBe('Memory.');
  });

  test('a whole page of an error is told in a line', async () => {
    wire.reply((response) => {
      response.writeHead(502, { 'content-type': 'text/html' });
      response.end(`<html>\n${'<p>Bad gateway at proxy-7.internal</p>\n'.repeat(2_000)}</html>`);
    });

    const failure = create(wire.url).generate(requestOf([user('why?')]));

    await expect(failure).rejects.toMatchObject({ kind: 'retry' });
    const { message } = await failure.catch((error) => error);
    expect(message.length).toBeLessThan(320);
    expect(message).not.toContain('\n');
  });

  test('the arguments of calls are heard while they are written', async () => {
    const args = { job_id: 7, path: '/tmp/data/a.log' };
    wire.mock.on({}, { toolCalls: [{ id: 'c1', name: 'look', arguments: JSON.stringify(args) }] });
    const deltas: Delta[] = [];

    await create(wire.url).generate(requestOf([user('why?')], { onDelta: (delta) => deltas.push(delta) }));

    const heard = deltas.filter((delta) => delta.kind === 'call');
    expect(new Set(heard.map(({ name }) => name))).toEqual(new Set(['look']));
    expect(JSON.parse(heard.map(({ text }) => text).join(''))).toEqual(args);
  });

  test('deltas arrive while the answer is still being written', async () => {
    const first = Promise.withResolvers<void>();
    wire.reply(async (response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      response.write(stream.start);
      await first.promise;
      response.end(stream.end);
    });

    const turn = await create(wire.url).generate(
      requestOf([user('why?')], { onDelta: () => first.resolve() }),
    );

    expect(turn.message.content).toBe('first second');
  });

  test('disabled tools stay declared', async () => {
    wire.mock.on({}, { content: 'ok' });

    await create(wire.url).generate(requestOf([user('why?')], { toolsDisabled: true }));

    expect(read(wire.last())).toMatchObject({
      disabled: true,
      tools: [['sandbox_exec', 'Runs a command', {}]],
    });
  });

  test('without tools nothing is said about them', async () => {
    wire.mock.on({}, { content: 'ok' });

    await create(wire.url).generate(requestOf([user('why?')], { tools: [], toolsDisabled: true }));

    expect(wire.last().bytes).not.toMatch(/tool/i);
  });

  test('transient words end the last user turn and are not kept', async () => {
    wire.mock.on({}, { content: 'ok' });
    const messages = [user('why?'), assistant('', 'c1', 'c2'), result('c1'), result('c2')];
    const before = structuredClone(messages);

    const turn = await create(wire.url).generate(requestOf(messages, { transient: 'Wrap up now.' }));

    const { turns } = read(wire.last());
    expect(turns.map(({ role, parts }) => [role, parts.length])).toEqual([
      ['user', 1],
      [expect.stringMatching(/assistant|model/), 2],
      ['user', 3],
    ]);
    expect(turns[2]?.parts[2]).toEqual(words('Wrap up now.'));
    expect(messages).toEqual(before);
    expect(JSON.stringify(turn)).not.toContain('Wrap up');
  });

  test('its own turn is replayed as it came', async () => {
    wire.mock.on(
      { hasToolResult: false },
      { content: 'Let me look.', toolCalls: FIXTURE_CALLS, reasoning: 'Hm.' },
    );
    wire.mock.on({ hasToolResult: true }, { content: 'done' });
    const model = create(wire.url);
    const { message } = await model.generate(requestOf([user('why?')]));
    const saved = JSON.parse(JSON.stringify(message));

    await model.generate(requestOf([user('why?'), saved, result('call_a'), result('call_b')]));

    const native = message.native?.content;
    expect(JSON.stringify(native)).toContain('Hm.');
    expect(read(wire.last()).turns[1]?.parts).toEqual(adapter.parts(native));
  });

  test.each<[string, (turn: AssistantMessage) => AssistantMessage]>([
    ['text', (turn) => ({ ...turn, content: 'Let me think.' })],
    ['calls', (turn) => ({ ...turn, toolCalls: turn.toolCalls.slice(1) })],
    [
      'arguments',
      (turn) => ({ ...turn, toolCalls: turn.toolCalls.map((call) => ({ ...call, arguments: {} })) }),
    ],
    ['native form', (turn) => ({ ...turn, native: { author: provider, content: null } })],
  ])('a turn of its own whose %s changed since is told as it is now', async (_what, change) => {
    wire.mock.on(
      { hasToolResult: false },
      { content: 'Let me look.', toolCalls: FIXTURE_CALLS, reasoning: 'Hm.' },
    );
    wire.mock.on({ hasToolResult: true }, { content: 'done' });
    const model = create(wire.url);
    const { message } = await model.generate(requestOf([user('why?')]));
    const changed = change(message);
    const { native: _native, ...canonical } = changed;
    const answers = changed.toolCalls.map(({ id }) => result(id));

    await model.generate(requestOf([user('why?'), canonical, ...answers]));
    const expected = read(wire.last()).turns;
    await model.generate(requestOf([user('why?'), changed, ...answers]));

    expect(read(wire.last()).turns).toEqual(expected);
    expect(wire.last().bytes).not.toContain('Hm.');
  });

  test("another provider's turn is told in canonical words", async () => {
    wire.mock.on({}, { content: 'done' });
    const foreign = {
      ...assistant('Let me look.', 'call.1'),
      native: { author: 'somebody', content: [{ opaque: 'SECRET-THOUGHT' }] },
    };

    await create(wire.url).generate(requestOf([user('why?'), foreign, result('call.1')]));

    const { bytes } = wire.last();
    expect(bytes).not.toContain('SECRET-THOUGHT');
    expect(bytes).toContain('Let me look.');
    expect(JSON.stringify(read(wire.last()).turns[1])).toContain('"command":"call.1"');
  });

  test.each([
    [429, 'retry'],
    [500, 'retry'],
    [502, 'retry'],
    [503, 'retry'],
    [504, 'retry'],
    [529, 'retry'],
    [401, 'switch'],
    [403, 'switch'],
    [404, 'switch'],
    [400, 'stop'],
    [422, 'stop'],
    [413, 'too-long'],
  ])('status %i means %s, after one attempt', async (status, kind) => {
    wire.mock.on({}, { error: { message: 'it hurts' }, status });

    const failure = create(wire.url).generate(requestOf([user('why?')]));

    await expect(failure).rejects.toMatchObject({
      name: 'ModelError',
      kind,
      message: `${provider} answered ${status}: it hurts`,
    });
    expect(wire.sent).toHaveLength(1);
  });

  test('is asked again only after the wait that its server wants', async () => {
    wire.reply(adapter.askToWait(7));
    wire.mock.on({}, { content: 'ok' });
    const asked: number[] = [];
    const sleep = async (ms: number) => void asked.push(ms, wire.sent.length);

    const turn = await withRetry(create(wire.url), { sleep }).generate(requestOf([user('why?')]));

    expect(turn.message.content).toBe('ok');
    expect(asked).toEqual([7000, 1]);
    expect(wire.sent).toHaveLength(2);
  });

  test.each([
    [429, true],
    [500, true],
    [503, true],
    [529, true],
    [401, true],
    [400, true],
    [413, true],
    // Whoever waited for the model gave up, and the model may have worked.
    [408, false],
    [502, false],
    [504, false],
    [524, false],
  ])('status %i is known to cost nothing: %s', async (status, unbilled) => {
    wire.mock.on({}, { error: { message: 'it hurts' }, status });

    await expect(create(wire.url).generate(requestOf([user('why?')]))).rejects.toMatchObject({ unbilled });
  });

  test('a conversation that does not fit is too long', async () => {
    wire.reply(failWith(400, errorBody(tooLong)));

    const failure = create(wire.url).generate(requestOf([user('why?')]));

    await expect(failure).rejects.toMatchObject({
      kind: 'too-long',
      message: expect.stringContaining(tooLong),
    });
  });

  test.each([
    ['a connection that is cut', { chaos: { disconnectRate: 1 } }],
    ['a page that is no JSON', { chaos: { malformedRate: 1 } }],
    ['a stream that is cut', { truncateAfterChunks: 2, chunkSize: 3 }],
  ])('%s may work again', async (_what, chaos) => {
    wire.mock.on({}, { content: 'a text that is long enough to be cut' }, chaos);

    const failure = create(wire.url).generate(requestOf([user('why?')]));

    await expect(failure).rejects.toMatchObject({ name: 'ModelError', kind: 'retry', unbilled: false });
  });

  test.each([
    ['a stream that ends too early', ''],
    ['an event that is no JSON', stream.garbage + stream.end],
    ['half an event', stream.garbage.trimEnd()],
  ])('%s may work again', async (_what, rest) => {
    wire.reply((response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      response.end(stream.start + rest);
    });

    const failure = create(wire.url).generate(requestOf([user('why?')]));

    await expect(failure).rejects.toMatchObject({ name: 'ModelError', kind: 'retry', unbilled: false });
  });

  test('a broken answer is not listened to any longer', async () => {
    const closed = Promise.withResolvers<void>();
    wire.reply(async (response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      response.write(stream.start + stream.garbage);
      await once(response, 'close');
      closed.resolve();
    });

    const failure = create(wire.url).generate(requestOf([user('why?')]));

    await expect(failure).rejects.toMatchObject({ kind: 'retry' });
    await closed.promise;
  });

  test('a turn leaves no timer behind that keeps the process alive', async () => {
    wire.mock.on({}, { content: 'ok' });
    const timers = () => process.getActiveResourcesInfo().filter((name) => name === 'Timeout').length;
    const before = timers();

    await create(wire.url).generate(requestOf([user('why?')]));

    // Those of other tests may end meanwhile.
    expect(timers()).toBeLessThanOrEqual(before);
  });

  test('the environment chooses neither the server nor the way to it', async () => {
    wire.mock.on({}, { content: 'ok' });
    await create(wire.url).generate(requestOf([user('why?')]));
    vi.stubEnv('GOOGLE_GENAI_USE_VERTEXAI', 'true');
    vi.stubEnv('GOOGLE_GENAI_API_VERSION', 'v1alpha');
    vi.stubEnv('GOOGLE_GEMINI_BASE_URL', 'http://127.0.0.1:9');
    vi.stubEnv('GEMINI_API_KEY', 'another');
    vi.stubEnv('ANTHROPIC_BASE_URL', 'http://127.0.0.1:9');
    vi.stubEnv('ANTHROPIC_API_KEY', 'another');
    vi.stubEnv('ANTHROPIC_AUTH_TOKEN', 'another');
    vi.stubEnv('OPENAI_BASE_URL', 'http://127.0.0.1:9');
    vi.stubEnv('OPENAI_API_KEY', 'another');
    vi.stubEnv('OPENAI_ADMIN_KEY', 'another');
    vi.stubEnv('OPENAI_ORG_ID', 'another');
    vi.stubEnv('OPENAI_PROJECT_ID', 'another');
    vi.stubEnv('OPENAI_CUSTOM_HEADERS', 'authorization: Bearer another\nx-another: 1');
    vi.stubEnv('ANTHROPIC_CUSTOM_HEADERS', 'x-api-key: another\nx-another: 1');
    vi.stubEnv('ANTHROPIC_VERTEX_BASE_URL', 'http://127.0.0.1:9');
    vi.stubEnv('ANTHROPIC_VERTEX_PROJECT_ID', 'another');
    vi.stubEnv('CLOUD_ML_REGION', 'another');
    vi.stubEnv('GOOGLE_VERTEX_BASE_URL', 'http://127.0.0.1:9');
    vi.stubEnv('GOOGLE_CLOUD_PROJECT', 'another');
    vi.stubEnv('GOOGLE_CLOUD_LOCATION', 'another');
    vi.stubEnv('GOOGLE_CLOUD_QUOTA_PROJECT', 'another');
    vi.stubEnv('GOOGLE_APPLICATION_CREDENTIALS', '/nowhere');
    vi.stubEnv('HTTPS_PROXY', 'http://127.0.0.1:9');

    await create(wire.url).generate(requestOf([user('why?')]));
    vi.unstubAllEnvs();

    const [plain, stubbed] = wire.sent;
    expect(stubbed?.path).toBe(plain?.path);
    expect(stubbed?.headers).toEqual(plain?.headers);
  });

  test('a server that is away may come back', async () => {
    const failure = create(await closedUrl()).generate(requestOf([user('why?')]));

    await expect(failure).rejects.toMatchObject({
      kind: 'retry',
      message: expect.stringContaining('ECONNREFUSED'),
      unbilled: true,
    });
  });

  test('a model that falls silent is given up', async () => {
    const closed = Promise.withResolvers<void>();
    wire.reply(async (response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      response.write(stream.start);
      await once(response, 'close');
      closed.resolve();
    });

    const failure = create(wire.url, { silenceMs: 300 }).generate(requestOf([user('why?')]));

    await expect(failure).rejects.toMatchObject({
      kind: 'retry',
      message: expect.stringContaining('silent'),
      unbilled: false,
    });
    await closed.promise;
  });

  test('an abort while it writes throws the reason and hangs up', async () => {
    const closed = Promise.withResolvers<void>();
    wire.reply(async (response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      response.write(stream.start);
      await once(response, 'close');
      closed.resolve();
    });
    const controller = new AbortController();
    const reason = new Error('the merge request was closed');

    const failure = create(wire.url).generate(
      requestOf([user('why?')], { signal: controller.signal, onDelta: () => controller.abort(reason) }),
    );

    await expect(failure).rejects.toBe(reason);
    await closed.promise;
  });

  test('an abort before it writes throws the reason', async () => {
    const controller = new AbortController();
    const reason = new Error('the merge request was closed');
    wire.reply(() => controller.abort(reason));

    const failure = create(wire.url).generate(requestOf([user('why?')], { signal: controller.signal }));

    await expect(failure).rejects.toBe(reason);
  });

  test('nothing is sent when it was aborted already', async () => {
    const reason = new Error('too late');

    const failure = create(wire.url).generate(
      requestOf([user('why?')], { signal: AbortSignal.abort(reason) }),
    );

    await expect(failure).rejects.toBe(reason);
    expect(wire.sent).toEqual([]);
  });

  test('a key that the server repeats is no part of the error', async () => {
    wire.reply((response, { headers }) => {
      const echo = `bad key: ${headers.authorization ?? headers['x-goog-api-key']}`;
      failWith(401, errorBody(echo))(response, wire.last());
    });

    const error = await create(wire.url)
      .generate(requestOf([user('why?')]))
      .catch((thrown: unknown) => thrown);

    expect(error).toMatchObject({ kind: 'switch', message: expect.stringContaining('[api key]') });
    expect(error).toHaveProperty('cause.message', expect.stringContaining('[api key]'));
    expect(inspect(error, { depth: Number.POSITIVE_INFINITY, showHidden: true })).not.toContain(secret);
  });

  test('a broken history is not sent', async () => {
    const failure = create(wire.url).generate(requestOf([user('why?'), assistant('', 'c1')]));

    await expect(failure).rejects.toMatchObject({ kind: 'stop', unbilled: true });
    expect(wire.sent).toEqual([]);
  });
});

async function closedUrl(): Promise<string> {
  const gone = createServer().listen(0, '127.0.0.1');
  await once(gone, 'listening');
  const { port } = gone.address() as AddressInfo;
  gone.close();
  await once(gone, 'close');
  return `http://127.0.0.1:${port}`;
}
