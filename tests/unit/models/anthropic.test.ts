import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { createAnthropicModel } from '../../../src/models/anthropic.ts';
import { answerWith, failWith, startWire, toEvents, type Wire } from '../../services/model-wire.ts';
import { assistant, KEY, requestOf, result, user } from './requests.ts';

let wire: Wire;
beforeAll(async () => {
  wire = await startWire();
});
beforeEach(() => wire.reset());
afterAll(() => wire.close());

describe('thinking', () => {
  const blocks = [
    { type: 'thinking', thinking: 'The log says Killed.', signature: 'c2lnbmF0dXJl' },
    { type: 'redacted_thinking', data: 'b3BhcXVl' },
    { type: 'text', text: 'Let me look.', citations: null },
    { type: 'tool_use', id: 'toolu_1', caller: { type: 'direct' }, name: 'sandbox_exec', input: { a: [1] } },
  ];

  test('comes back byte by byte, signatures included', async () => {
    wire.reply(
      answerWith(
        start(),
        {
          type: 'content_block_start',
          index: 0,
          content_block: { ...blocks[0], thinking: '', signature: '' },
        },
        delta(0, { type: 'thinking_delta', thinking: 'The log ' }),
        delta(0, { type: 'thinking_delta', thinking: 'says Killed.' }),
        delta(0, { type: 'signature_delta', signature: 'c2lnbmF0dXJl' }),
        { type: 'content_block_start', index: 1, content_block: blocks[1] },
        { type: 'content_block_start', index: 2, content_block: { ...blocks[2], text: '' } },
        delta(2, { type: 'text_delta', text: 'Let me look.' }),
        { type: 'content_block_start', index: 3, content_block: { ...blocks[3], input: {} } },
        delta(3, { type: 'input_json_delta', partial_json: '{"a":' }),
        delta(3, { type: 'input_json_delta', partial_json: '[1]}' }),
        ...end('tool_use'),
      ),
    );
    wire.mock.on({}, { content: 'done' });
    const { message } = await model().generate(requestOf([user('why?')]));

    await model().generate(requestOf([user('why?'), message, result('toolu_1')]));

    expect(message.native).toEqual({ author: 'anthropic', content: blocks });
    expect(wire.last().bytes).toContain(JSON.stringify({ role: 'assistant', content: blocks }));
  });

  const adaptive = { type: 'adaptive', display: 'summarized' };
  test.each([
    ['off', { thinking: { type: 'disabled' } }],
    ['on', { thinking: adaptive }],
    ['low', { thinking: adaptive, output_config: { effort: 'low' } }],
    ['medium', { thinking: adaptive, output_config: { effort: 'medium' } }],
    ['high', { thinking: adaptive, output_config: { effort: 'high' } }],
    [undefined, {}],
  ] as const)('%s is asked for as %o, and nothing else changes', async (thinking, expected) => {
    wire.mock.on({}, { content: 'ok' });
    const options = { model: 'claude-sonnet-5-5', apiKey: KEY, baseUrl: wire.url, thinking };

    await createAnthropicModel(options).generate(requestOf([user('why?')]));

    expect(wire.last().body).toEqual({
      model: 'claude-sonnet-5-5',
      max_tokens: 1234,
      stream: true,
      system: 'You are Hummingbird.',
      tools: [
        {
          name: 'sandbox_exec',
          description: 'Runs a command',
          input_schema: {
            type: 'object',
            properties: { command: { type: 'string' } },
            required: ['command'],
          },
        },
      ],
      ...expected,
      messages: [
        { role: 'user', content: [{ type: 'text', text: 'why?', cache_control: { type: 'ephemeral' } }] },
      ],
    });
  });
});

describe('messages', () => {
  test('results are merged into one user message, errors marked, foreign ids made acceptable', async () => {
    wire.mock.on({}, { content: 'ok' });
    const messages = [
      user('why?'),
      assistant('', 'a.b/c', 'd'),
      result('a.b/c', '{"x":1}'),
      result('d', '{"error":"no"}', true),
      user('and now?'),
    ];

    await model().generate(requestOf(messages));

    expect(wire.last().body.messages).toEqual([
      { role: 'user', content: [{ type: 'text', text: 'why?' }] },
      {
        role: 'assistant',
        content: [
          { type: 'tool_use', id: 'a_b_c', name: 'sandbox_exec', input: { command: 'a.b/c' } },
          { type: 'tool_use', id: 'd', name: 'sandbox_exec', input: { command: 'd' } },
        ],
      },
      {
        role: 'user',
        content: [
          { type: 'tool_result', tool_use_id: 'a_b_c', content: '{"x":1}', is_error: false },
          { type: 'tool_result', tool_use_id: 'd', content: '{"error":"no"}', is_error: true },
          { type: 'text', text: 'and now?', cache_control: { type: 'ephemeral' } },
        ],
      },
    ]);
  });

  test('ids that other providers use twice are made different, the same way each time', async () => {
    wire.mock.on({}, { content: 'ok' });
    const messages = [
      user('why?'),
      assistant('', 'a.b', 'a/b', ''),
      ...[result('a.b'), result('a/b'), result('')],
      assistant('', 'a.b'),
      result('a.b'),
    ];

    const ids: unknown[] = [];
    for (const length of [5, 7]) {
      await model().generate(requestOf(messages.slice(0, length)));
      const sent = wire.last().body.messages as { content: { id?: string; tool_use_id?: string }[] }[];
      ids.push(sent.map(({ content }) => content.flatMap((block) => block.id ?? block.tool_use_id ?? [])));
    }

    const first = ['a_b', 'a_b_2', 'call'];
    expect(ids).toEqual([
      [[], first, first],
      [[], first, first, ['a_b_3'], ['a_b_3']],
    ]);
  });

  test('a tool that another model made up has a name the API can read', async () => {
    wire.mock.on({}, { content: 'ok' });
    const call = { id: 'a', name: 'default_api.run:', arguments: {} };

    await model().generate(requestOf([user('why?'), { ...assistant(''), toolCalls: [call] }, result('a')]));

    expect(wire.last().body.messages).toHaveProperty('1.content.0.name', 'default_api_run_');
  });

  test('a turn in two pieces is one message, and the saved pieces stay two', async () => {
    wire.mock.on({}, { content: 'ok' });
    const pieces = ['Beca', 'use.'].map((text) => ({
      ...assistant(text),
      native: { author: 'anthropic', content: [{ type: 'text', text }] },
    }));

    await model().generate(requestOf([user('why?'), ...pieces, user('Go on.')]));

    expect(wire.last().body.messages).toHaveProperty('length', 3);
    expect(pieces.map(({ native }) => native.content.length)).toEqual([1, 1]);
  });
});

describe('the answer', () => {
  test('of nothing but space is empty, and blank texts beside a call are not kept', async () => {
    const call = { type: 'tool_use', id: 'toolu_1', name: 'sandbox_exec', input: {} };
    wire.reply(answerWith(start(), ...text('\n\n'), ...end('end_turn')));
    wire.reply(
      answerWith(
        start(),
        ...text(' \n'),
        { type: 'content_block_start', index: 1, content_block: call },
        ...end('tool_use'),
      ),
    );

    const blank = await model().generate(requestOf([user('why?')]));
    const { message } = await model().generate(requestOf([user('why?')]));

    expect(blank.message).toEqual({ role: 'assistant', content: '', toolCalls: [] });
    expect(message).toMatchObject({ content: '', native: { content: [call] } });
  });

  test('tells the three kinds of input and the output', async () => {
    wire.reply(
      answerWith(
        start({
          input_tokens: 10,
          cache_read_input_tokens: 2000,
          cache_creation_input_tokens: 300,
          output_tokens: 1,
        }),
        ...text('ok'),
        ...end('end_turn', { output_tokens: 42, input_tokens: null }),
      ),
    );

    const { usage } = await model().generate(requestOf([user('why?')]));

    expect(usage).toEqual({
      inputTokens: 10,
      cacheReadTokens: 2000,
      cacheWriteTokens: 300,
      outputTokens: 42,
    });
  });

  test.each([
    ['end_turn', 'end'],
    ['stop_sequence', 'end'],
    ['max_tokens', 'length'],
    ['model_context_window_exceeded', 'length'],
    ['pause_turn', 'other'],
  ])('that stops for %s ends as %s', async (reason, stop) => {
    wire.reply(answerWith(start(), ...text('ok'), ...end(reason)));

    expect(await model().generate(requestOf([user('why?')]))).toMatchObject({ stop });
  });

  test('that is a refusal is one for another model, whatever it has said', async () => {
    wire.reply(answerWith(start(), ...text('I must not'), ...end('refusal')));

    await expect(model().generate(requestOf([user('why?')]))).rejects.toMatchObject({ kind: 'switch' });
  });

  test('keeps a call that the window of the model cut off', async () => {
    wire.reply(answerWith(start(), ...call('{"command":"rm'), ...end('model_context_window_exceeded')));

    expect((await model().generate(requestOf([user('why?')]))).stop).toBe('length');
  });

  test('keeps a call that was cut off, without arguments that nobody finished', async () => {
    wire.reply(answerWith(start(), ...call('{"command":"rm -rf /tm'), ...end('max_tokens')));

    const turn = await model().generate(requestOf([user('why?')]));

    expect(turn.stop).toBe('length');
    expect(turn.message.toolCalls).toEqual([{ id: 'toolu_1', name: 'sandbox_exec', arguments: {} }]);
  });

  test.each([['{"command":"ls'], ['["ls"]'], ['"ls"']])(
    'with the arguments %s may work again',
    async (json) => {
      wire.reply(answerWith(start(), ...call(json), ...end('tool_use')));

      await expect(model().generate(requestOf([user('why?')]))).rejects.toMatchObject({ kind: 'retry' });
    },
  );

  test('to a call without arguments is an empty object', async () => {
    wire.reply(answerWith(start(), ...call(''), ...end('tool_use')));

    const { message } = await model().generate(requestOf([user('why?')]));

    expect(message.toolCalls[0]?.arguments).toEqual({});
  });
});

describe('an error', () => {
  test.each([
    [{ 'retry-after': '7' }, 7000],
    [{ 'retry-after-ms': '250', 'retry-after': '7' }, 250],
    [{ 'retry-after': '0' }, 0],
    [{ 'retry-after': 'soon' }, undefined],
    [{}, undefined],
  ])('with the headers %o waits %s', async (headers, retryAfterMs) => {
    wire.reply(
      failWith(429, { type: 'error', error: { type: 'rate_limit_error', message: 'slow' } }, headers),
    );

    await expect(model().generate(requestOf([user('why?')]))).rejects.toMatchObject({
      kind: 'retry',
      retryAfterMs,
    });
  });

  test('may name a date to wait for', async () => {
    const date = new Date(Date.now() + 20_000).toUTCString();
    wire.reply(failWith(503, {}, { 'retry-after': date }));

    const error = await model()
      .generate(requestOf([user('why?')]))
      .catch((thrown) => thrown);

    expect(error.retryAfterMs).toBeGreaterThan(15_000);
    expect(error.retryAfterMs).toBeLessThanOrEqual(20_000);
  });

  test.each([
    ['overloaded_error', 'Overloaded', 'retry'],
    ['api_error', 'Internal', 'retry'],
    ['rate_limit_error', 'slow', 'retry'],
    ['authentication_error', 'no', 'switch'],
    ['invalid_request_error', 'odd', 'stop'],
    ['invalid_request_error', 'prompt is too long: 2 tokens > 1 maximum', 'too-long'],
  ])('inside the stream: %s "%s" means %s', async (type, message, kind) => {
    wire.reply((response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      response.end(
        toEvents(start(), ...text('half')) + toEvents({ type: 'error', error: { type, message } }),
      );
    });

    await expect(model().generate(requestOf([user('why?')]))).rejects.toMatchObject({
      kind,
      message: expect.stringContaining(message),
      unbilled: false,
    });
  });

  test('about input and output together is too long as well', async () => {
    const message = 'input length and `max_tokens` exceed context limit: 190000 + 20000 > 200000';
    wire.reply(failWith(400, { type: 'error', error: { type: 'invalid_request_error', message } }));

    await expect(model().generate(requestOf([user('why?')]))).rejects.toMatchObject({ kind: 'too-long' });
  });
});

function model() {
  return createAnthropicModel({ model: 'claude-sonnet-5-5', apiKey: KEY, baseUrl: wire.url });
}

function start(usage: object = { input_tokens: 1, output_tokens: 1 }): object {
  return { type: 'message_start', message: { role: 'assistant', content: [], usage } };
}

function delta(index: number, change: object): object {
  return { type: 'content_block_delta', index, delta: change };
}

function text(words: string): object[] {
  return [
    { type: 'content_block_start', index: 0, content_block: { type: 'text', text: '' } },
    delta(0, { type: 'text_delta', text: words }),
    { type: 'content_block_stop', index: 0 },
  ];
}

function call(json: string): object[] {
  const block = { type: 'tool_use', id: 'toolu_1', name: 'sandbox_exec', input: {} };
  return [
    { type: 'content_block_start', index: 0, content_block: block },
    delta(0, { type: 'input_json_delta', partial_json: json }),
    { type: 'content_block_stop', index: 0 },
  ];
}

function end(reason: string, usage: object = { output_tokens: 2 }): object[] {
  return [{ type: 'message_delta', delta: { stop_reason: reason }, usage }, { type: 'message_stop' }];
}
