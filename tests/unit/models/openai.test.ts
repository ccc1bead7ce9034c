import { inspect } from 'node:util';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import type { Delta } from '../../../src/agent/model.ts';
import { createAnthropicModel } from '../../../src/models/anthropic.ts';
import { createOpenAIModel, type OpenAIOptions, toRequest } from '../../../src/models/openai.ts';
import { answerWith, failWith, startWire, type Wire } from '../../services/model-wire.ts';
import { assistant, KEY, requestOf, result, user } from './requests.ts';

let wire: Wire;
beforeAll(async () => {
  wire = await startWire();
});
beforeEach(() => wire.reset());
afterAll(() => wire.close());

const ASKED = () => requestOf([user('why?')]);

describe('the request', () => {
  test('is this one, byte by byte', async () => {
    wire.mock.on({}, { content: 'ok' });
    const messages = [
      user('why?'),
      assistant('So.', 'a', 'b'),
      result('a', '{"x":1}'),
      result('b', '{"error":"no"}', true),
      assistant('', 'c'),
      result('c'),
    ];

    await model().generate(requestOf(messages, { toolsDisabled: true, transient: 'Wrap up.' }));

    const schema = '{"type":"object","properties":{"command":{"type":"string"}},"required":["command"]}';
    const call = (id: string) =>
      `{"id":"${id}","type":"function","function":{"name":"sandbox_exec","arguments":"{\\"command\\":\\"${id}\\"}"}}`;
    expect(wire.last().path).toBe('/v1/chat/completions');
    expect(wire.last().bytes).toBe(
      `{"model":"qwen3.8-coder","stream":true,"stream_options":{"include_usage":true},"max_tokens":1234,` +
        `"tools":[{"type":"function","function":{"name":"sandbox_exec","description":"Runs a command","parameters":${schema}}}],` +
        `"tool_choice":"none",` +
        `"messages":[{"role":"system","content":"You are Hummingbird."},` +
        `{"role":"user","content":"why?"},` +
        `{"role":"assistant","content":"So.","tool_calls":[${call('a')},${call('b')}]},` +
        `{"role":"tool","tool_call_id":"a","content":"{\\"x\\":1}"},` +
        `{"role":"tool","tool_call_id":"b","content":"{\\"error\\":\\"no\\"}"},` +
        `{"role":"assistant","content":null,"tool_calls":[${call('c')}]},` +
        `{"role":"tool","tool_call_id":"c","content":"{\\"exit_code\\":0}"},` +
        `{"role":"user","content":"Wrap up."}]}`,
    );
  });

  test('carries the key and nothing about the machine it comes from', async () => {
    wire.mock.on({}, { content: 'ok' });

    await model().generate(ASKED());

    const { authorization, ...others } = wire.last().headers;
    expect(authorization).toBe(`Bearer ${KEY}`);
    expect(Object.keys(others).filter((name) => name.startsWith('x-') || name.startsWith('openai'))).toEqual(
      [],
    );
  });

  test.each([undefined, ''])('to a server without keys (%o) carries none', async (apiKey) => {
    wire.mock.on({}, { content: 'ok' });

    const turn = await model({ apiKey }).generate(ASKED());

    expect(turn.message.content).toBe('ok');
    expect(wire.last().headers).not.toHaveProperty('authorization');
  });

  test.each([
    ['https://api.openai.com/v1', { max_completion_tokens: 1234 }],
    ['https://eu.api.openai.com/v1', { max_completion_tokens: 1234 }],
    ['https://api.openai.com.example.com/v1', { max_tokens: 1234 }],
    ['https://openrouter.ai/api/v1', { max_tokens: 1234 }],
    ['http://localhost:11434/v1', { max_tokens: 1234 }],
  ])('to %s limits the answer by %o', (baseUrl, expected) => {
    const { max_tokens, max_completion_tokens } = toRequest(ASKED(), [], { model: 'm', baseUrl });

    expect({ max_tokens, max_completion_tokens }).toEqual(expected);
  });

  test.each([
    ['off', { reasoning_effort: 'none' }],
    ['on', { reasoning_effort: 'medium' }],
    ['low', { reasoning_effort: 'low' }],
    ['medium', { reasoning_effort: 'medium' }],
    ['high', { reasoning_effort: 'high' }],
    [undefined, {}],
  ] as const)('asks for thinking %s as %o, and nothing else changes', async (thinking, expected) => {
    wire.mock.on({}, { content: 'ok' });

    await model({ thinking }).generate(ASKED());

    expect(wire.last().body).toEqual({
      model: 'qwen3.8-coder',
      stream: true,
      stream_options: { include_usage: true },
      max_tokens: 1234,
      tools: [
        {
          type: 'function',
          function: {
            name: 'sandbox_exec',
            description: 'Runs a command',
            parameters: {
              type: 'object',
              properties: { command: { type: 'string' } },
              required: ['command'],
            },
          },
        },
      ],
      ...expected,
      messages: [
        { role: 'system', content: 'You are Hummingbird.' },
        { role: 'user', content: 'why?' },
      ],
    });
  });
});

describe('reasoning', () => {
  test.each([
    ['of DeepSeek', { reasoning_content: 'The log ' }, { reasoning_content: 'says Killed.' }],
    ['of vLLM', { reasoning: 'The log ' }, { reasoning: 'says Killed.' }],
    [
      'under both names',
      { reasoning: 'The log ', reasoning_content: 'The log ' },
      { reasoning: 'says Killed.', reasoning_content: 'says Killed.' },
    ],
  ])('%s is heard once, and comes back under its name', async (_whose, first, second) => {
    wire.reply(
      answerWith(
        chunk({ role: 'assistant', content: null, ...first }),
        chunk(second),
        chunk({ content: 'Memory.' }, 'stop'),
      ),
    );
    wire.mock.on({}, { content: 'done' });
    const deltas: Delta[] = [];
    const { message } = await model().generate({ ...ASKED(), onDelta: (delta) => deltas.push(delta) });

    await model().generate(requestOf([user('why?'), message, user('and now?')]));

    expect(deltas).toEqual([
      { kind: 'thinking', text: 'The log ' },
      { kind: 'thinking', text: 'says Killed.' },
      { kind: 'text', text: 'Memory.' },
    ]);
    expect(message.content).toBe('Memory.');
    const whole = Object.keys(first).map((name) => [name, 'The log says Killed.']);
    expect(sentAnswer()).toEqual({ role: 'assistant', content: 'Memory.', ...Object.fromEntries(whole) });
  });

  test('that is empty comes back too: DeepSeek refuses a call without it', async () => {
    wire.reply(answerWith(chunk({ reasoning_content: '' }), calls({ id: 'c1', args: '{}' }), end));
    wire.mock.on({}, { content: 'done' });
    const { message } = await model().generate(ASKED());

    await model().generate(requestOf([user('why?'), message, result('c1')]));

    expect(sentAnswer()).toHaveProperty('reasoning_content', '');
  });

  test('that is no text is left alone', async () => {
    wire.reply(answerWith(chunk({ reasoning: { odd: 1 }, reasoning_content: null, content: 'ok' }, 'stop')));

    const { message } = await model().generate(ASKED());

    expect(message.native?.content).toHaveProperty('message', { role: 'assistant', content: 'ok' });
  });

  test('in blocks is put together again, signatures and encrypted parts included', async () => {
    const text = { type: 'reasoning.text', format: 'anthropic-claude-v1', index: 0 };
    const encrypted = { type: 'reasoning.encrypted', data: 'b3BhcXVl', index: 0 };
    const detail = (...details: (object | null)[]) => chunk({ reasoning_details: details });
    wire.reply(
      answerWith(
        detail({ ...text, text: 'The log ' }),
        detail({ ...text, text: 'says Killed.', signature: null }),
        detail({ ...text, format: null, signature: 'c2ln' }),
        detail({ ...text, text: 'So.' }, { ...text, text: ' Memory.' }),
        detail({ type: 'reasoning.summary', summary: 'It ', index: 0 }),
        detail({ type: 'reasoning.summary', summary: 'ran out.', index: 0 }, null, encrypted),
        detail(encrypted),
        calls({ id: 'c1', args: '{}' }),
        end,
      ),
    );
    wire.mock.on({}, { content: 'done' });
    const { message } = await model().generate(ASKED());

    await model().generate(requestOf([user('why?'), message, result('c1')]));

    expect(sentAnswer()).toHaveProperty('reasoning_details', [
      { ...text, text: 'The log says Killed.', signature: 'c2ln' },
      { ...text, text: 'So. Memory.' },
      { type: 'reasoning.summary', summary: 'It ran out.', index: 0 },
      encrypted,
      encrypted,
    ]);
  });

  test.each([
    ['another server', { baseUrl: () => `${wire.url}/other/v1` }],
    ['another model', { baseUrl: () => `${wire.url}/v1`, model: 'other' }],
  ])('is not told to %s', async (_where, { baseUrl, ...more }) => {
    wire.reply(
      answerWith(
        chunk({ reasoning_content: 'SECRET-THOUGHT' }),
        calls({ id: 'c1', args: '{ "command": "ls" }', extra_content: { signature: 'SECRET-SIGNATURE' } }),
        end,
      ),
    );
    wire.reply(answerWith(chunk({ content: 'done' }, 'stop')));
    const { message } = await model().generate(ASKED());

    await model({ baseUrl: baseUrl(), ...more }).generate(requestOf([user('why?'), message, result('c1')]));

    expect(wire.last().bytes).not.toContain('SECRET');
    expect(sentAnswer()).toEqual({
      role: 'assistant',
      content: null,
      tool_calls: [
        { id: 'c1', type: 'function', function: { name: 'sandbox_exec', arguments: '{"command":"ls"}' } },
      ],
    });
  });

  test('is not told to another provider', async () => {
    wire.reply(answerWith(chunk({ reasoning_content: 'SECRET-THOUGHT', content: 'Memory.' }, 'stop')));
    wire.mock.on({}, { content: 'done' });
    const { message } = await model().generate(ASKED());
    const claude = createAnthropicModel({ model: 'claude-sonnet-5-5', apiKey: KEY, baseUrl: wire.url });

    await claude.generate(requestOf([user('why?'), message, user('and now?')]));

    expect(wire.last().body.messages).toHaveProperty('1.content', [{ type: 'text', text: 'Memory.' }]);
    expect(wire.last().bytes).not.toContain('SECRET');
  });
});

describe('calls', () => {
  test('come back as they were written, with what their server put beside them', async () => {
    const signed = { extra_content: { google: { thought_signature: 'c2ln' } } };
    wire.reply(
      answerWith(
        calls({ id: 'c1', args: '{ "command"', ...signed }),
        chunk({ tool_calls: [{ index: 0, function: { arguments: ': "ls" }' } }] }),
        end,
      ),
    );
    wire.mock.on({}, { content: 'done' });
    const { message } = await model().generate(ASKED());

    await model().generate(requestOf([user('why?'), message, result('c1')]));

    expect(message.toolCalls).toEqual([{ id: 'c1', name: 'sandbox_exec', arguments: { command: 'ls' } }]);
    expect(sentAnswer()).toEqual({
      role: 'assistant',
      content: null,
      tool_calls: [
        {
          id: 'c1',
          type: 'function',
          function: { name: 'sandbox_exec', arguments: '{ "command": "ls" }' },
          ...signed,
        },
      ],
    });
  });

  test('without ids get them from their position, and are sent back with them', async () => {
    const written = () =>
      answerWith(calls({ args: '{"command":"ls"}' }, { id: '', args: '{}' }), chunk({}, 'tool_calls'));
    wire.reply(written());
    wire.reply(written());
    wire.mock.on({}, { content: 'done' });
    const { message } = await model().generate(ASKED());
    const again = await model().generate(ASKED());

    await model().generate(requestOf([user('why?'), message, result('call_1_0'), result('call_1_1')]));

    expect(message.toolCalls.map(({ id }) => id)).toEqual(['call_1_0', 'call_1_1']);
    expect(again.message).toEqual(message);
    expect(sentAnswer()).toMatchObject({ tool_calls: [{ id: 'call_1_0' }, { id: 'call_1_1' }] });
  });

  test('that all have the index 0, as with Ollama, are still told apart', async () => {
    wire.reply(
      answerWith(
        calls({ id: 'c1', args: '{"command":"ls"}' }),
        calls({ id: 'c2', args: '{"command":' }),
        chunk({ tool_calls: [{ index: 0, function: { arguments: '"pwd"}' } }] }),
        end,
      ),
    );

    const { message } = await model().generate(ASKED());

    expect(message.toolCalls).toEqual([
      { id: 'c1', name: 'sandbox_exec', arguments: { command: 'ls' } },
      { id: 'c2', name: 'sandbox_exec', arguments: { command: 'pwd' } },
    ]);
  });

  test('whose pieces all have ids of their own, as with old vLLM, are still one', async () => {
    wire.reply(
      answerWith(
        calls({ id: 'c1', args: '{"command":' }),
        chunk({ tool_calls: [{ index: 0, id: 'c2', function: { arguments: '"ls"}' } }] }),
        end,
      ),
    );

    const { message } = await model().generate(ASKED());

    expect(message.toolCalls).toEqual([{ id: 'c1', name: 'sandbox_exec', arguments: { command: 'ls' } }]);
  });

  test('are calls even if the server says that it just stopped', async () => {
    wire.reply(answerWith(calls({ id: 'c1', args: '' }), chunk({}, 'stop')));

    const turn = await model().generate(ASKED());

    expect(turn).toMatchObject({ stop: 'tool-calls', message: { toolCalls: [{ id: 'c1', arguments: {} }] } });
  });

  test('that were cut off are kept, without arguments that nobody finished', async () => {
    wire.reply(answerWith(calls({ id: 'c1', args: '{"command":"rm -rf /tm' }), chunk({}, 'length')));

    const turn = await model().generate(ASKED());

    expect(turn.stop).toBe('length');
    expect(turn.message.toolCalls).toEqual([{ id: 'c1', name: 'sandbox_exec', arguments: {} }]);
  });

  test.each([['{"command":"ls'], ['["ls"]'], ['"ls"']])(
    'with the arguments %s may work again',
    async (args) => {
      wire.reply(answerWith(calls({ id: 'c1', args }), end));

      await expect(model().generate(ASKED())).rejects.toMatchObject({ kind: 'retry' });
    },
  );
});

describe('the answer', () => {
  test.each([
    [
      'all counters',
      {
        prompt_tokens: 2310,
        completion_tokens: 42,
        prompt_tokens_details: { cached_tokens: 2000, cache_write_tokens: 300 },
        completion_tokens_details: { reasoning_tokens: 12 },
      },
      { inputTokens: 10, cacheReadTokens: 2000, cacheWriteTokens: 300, outputTokens: 42 },
    ],
    [
      'no details',
      { prompt_tokens: 7, completion_tokens: 3, prompt_tokens_details: null },
      { inputTokens: 7, cacheReadTokens: 0, cacheWriteTokens: 0, outputTokens: 3 },
    ],
    ['nothing', {}, { inputTokens: 0, cacheReadTokens: 0, cacheWriteTokens: 0, outputTokens: 0 }],
    ['no usage', undefined, { inputTokens: 0, cacheReadTokens: 0, cacheWriteTokens: 0, outputTokens: 0 }],
  ])('with %s is counted', async (_what, sent, expected) => {
    wire.reply(
      answerWith(
        chunk({ content: 'ok' }),
        chunk({}, 'stop'),
        ...(sent ? [{ choices: [], usage: sent }] : []),
      ),
    );

    expect((await model().generate(ASKED())).usage).toEqual(expected);
  });

  test('is counted by the last word if each chunk tells the totals so far', async () => {
    wire.reply(
      answerWith(
        { ...chunk({ content: 'o' }), usage: { prompt_tokens: 7, completion_tokens: 1 } },
        { ...chunk({ content: 'k' }, 'stop'), usage: { prompt_tokens: 7, completion_tokens: 2 } },
        { choices: [], usage: null },
      ),
    );

    expect((await model().generate(ASKED())).usage).toMatchObject({ inputTokens: 7, outputTokens: 2 });
  });

  test.each([
    ['stop', 'end'],
    ['length', 'length'],
  ])('that finishes for %s ends as %s', async (reason, stop) => {
    wire.reply(answerWith(chunk({ content: 'ok' }, reason)));

    expect(await model().generate(ASKED())).toMatchObject({ stop, message: { content: 'ok' } });
  });

  test('that a filter withheld is one for another model', async () => {
    wire.reply(answerWith(chunk({ content: 'ok' }, 'content_filter')));

    await expect(model().generate(ASKED())).rejects.toMatchObject({ kind: 'switch' });
  });

  test('that is a refusal is one for another model', async () => {
    wire.reply(answerWith(chunk({ refusal: 'I can not ' }), chunk({ refusal: 'do that.' }, 'stop')));

    await expect(model().generate(ASKED())).rejects.toMatchObject({
      kind: 'switch',
      message: expect.stringContaining('I can not do that.'),
    });
  });
});

describe('an error', () => {
  test.each([
    [{ 'retry-after': '7' }, 7000],
    [{ 'retry-after-ms': '250', 'retry-after': '7' }, 250],
    [{}, undefined],
  ])('with the headers %o waits %s', async (headers, retryAfterMs) => {
    wire.reply(failWith(429, { error: { message: 'slow', code: 'rate_limit_exceeded' } }, headers));

    await expect(model().generate(ASKED())).rejects.toMatchObject({ kind: 'retry', retryAfterMs });
  });

  test.each([
    [400, { error: { message: 'Input tokens exceed the limit.', code: 'context_length_exceeded' } }],
    [400, { object: 'error', message: "This model's maximum context length is 16384 tokens.", code: 400 }],
    [400, { error: { message: 'The decoder prompt is longer than the maximum model length of 8192.' } }],
    [400, { error: { message: 'prompt too long; exceeded max context length by 12 tokens' } }],
    [500, { error: { message: 'the request exceeds the available context size.', code: 500 } }],
    [400, { error: { message: 'Your input exceeds the context window of this model.' } }],
    [
      400,
      {
        error: {
          message: 'Provider returned error',
          code: 400,
          metadata: { raw: "This endpoint's maximum context length is 131072 tokens.", provider_name: 'X' },
        },
      },
    ],
  ])('%i %o means that the conversation is too long', async (status, body) => {
    wire.reply(failWith(status, body));

    await expect(model().generate(ASKED())).rejects.toMatchObject({ kind: 'too-long' });
  });

  test.each([
    [429, { message: 'You exceeded your current quota.', code: 'insufficient_quota' }],
    [402, { message: 'Insufficient credits.', code: 402 }],
    [
      400,
      {
        message: "To use function tools, set reasoning_effort to 'none'.",
        param: 'reasoning_effort',
        code: null,
      },
    ],
  ])('%i %o is one for another model', async (status, error) => {
    wire.reply(failWith(status, { error }));

    await expect(model().generate(ASKED())).rejects.toMatchObject({
      kind: 'switch',
      message: `openai answered ${status}: ${error.message}`,
    });
  });

  test.each([
    [{ detail: 'Unauthorized' }, 'openai answered 401: {"detail":"Unauthorized"}'],
    [{ error: 'no such key' }, 'openai answered 401: "no such key"'],
  ])('in the form %o is readable too', async (body, message) => {
    wire.reply(failWith(401, body));

    await expect(model().generate(ASKED())).rejects.toMatchObject({ kind: 'switch', message });
  });

  test.each([
    [{ code: 502, message: 'Upstream is away' }, 'retry', 'openai answered 502: Upstream is away'],
    [{ code: '429', message: 'slow' }, 'retry', 'openai answered 429: slow'],
    [{ code: 'server_error', message: 'Disconnected' }, 'retry', 'openai: Disconnected'],
    [{ code: 403, message: 'Flagged' }, 'switch', 'openai answered 403: Flagged'],
    [{ code: 400, message: 'odd' }, 'stop', 'openai answered 400: odd'],
    [{ code: 'context_length_exceeded', message: 'too much' }, 'too-long', 'openai: too much'],
  ])('%o inside the stream means %s', async (error, kind, message) => {
    const half = chunk({ role: 'assistant', content: 'half' });
    wire.reply(answerWith(half, { ...chunk({ content: '' }, 'error'), error }));
    await expect(model().generate(ASKED())).rejects.toMatchObject({ kind, message });

    wire.reply(answerWith(half, { choices: [{ index: 0, delta: {}, finish_reason: 'error', error }] }));
    await expect(model().generate(ASKED())).rejects.toMatchObject({ kind, message });
  });

  test('that is only said by the way the answer finished may go away', async () => {
    wire.reply(answerWith(chunk({ content: 'half' }), chunk({}, 'error')));

    await expect(model().generate(ASKED())).rejects.toMatchObject({
      kind: 'retry',
      message: 'openai: the provider broke the answer off',
    });
  });

  test('inside the stream never holds the key', async () => {
    wire.reply(
      answerWith(chunk({}), { error: { code: 401, message: `bad key ${KEY}`, metadata: { raw: KEY } } }),
    );

    const error = await model()
      .generate(ASKED())
      .catch((thrown: unknown) => thrown);

    expect(error).toMatchObject({ kind: 'switch', message: expect.stringContaining('[api key]') });
    expect(inspect(error, { depth: Number.POSITIVE_INFINITY, showHidden: true })).not.toContain(KEY);
  });
});

function model(more: Partial<OpenAIOptions> = {}) {
  return createOpenAIModel({ model: 'qwen3.8-coder', apiKey: KEY, baseUrl: `${wire.url}/v1`, ...more });
}

/** The turn of the model in the last request. */
function sentAnswer(): unknown {
  return (wire.last().body.messages as { role: string }[]).find(({ role }) => role === 'assistant');
}

function chunk(delta: object, finish_reason: string | null = null): { choices: object[] } {
  return { choices: [{ index: 0, delta, finish_reason }] };
}

const end = chunk({}, 'tool_calls');

function calls(...all: { id?: string; args: string; extra_content?: object }[]): object {
  return chunk({
    tool_calls: all.map(({ args, ...rest }, index) => ({
      index,
      type: 'function',
      function: { name: 'sandbox_exec', arguments: args },
      ...rest,
    })),
  });
}
