import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { createAnthropicModel } from '../../../src/models/anthropic.ts';
import { createGeminiModel } from '../../../src/models/gemini.ts';
import { answerWith, failWith, startWire, type Wire } from '../../services/model-wire.ts';
import { assistant, KEY, requestOf, result, user } from './requests.ts';

let wire: Wire;
beforeAll(async () => {
  wire = await startWire();
});
beforeEach(() => wire.reset());
afterAll(() => wire.close());

describe('a turn of its own', () => {
  const parts = [
    { text: 'I think so.', thought: true },
    { text: 'Let me look.' },
    { thoughtSignature: 'c2ln', functionCall: { args: { command: 'ls' }, name: 'sandbox_exec' } },
    { functionCall: { args: {}, name: 'sandbox_exec' } },
    { thoughtSignature: 'ZW5k', text: '' },
  ];
  const chunks = [
    chunk([{ text: 'I think ', thought: true }]),
    chunk([{ text: 'so.', thought: true }, { text: 'Let me ' }]),
    chunk([{ text: 'look.' }, { text: '' }]),
    chunk(parts.slice(2), 'STOP'),
  ];

  test('is replayed with its signatures, answers matched by order', async () => {
    wire.reply(answerWith(...chunks));
    wire.mock.on({}, { content: 'done' });
    const { message } = await model().generate(requestOf([user('why?')]));

    const [one, two] = message.toolCalls.map(({ id }) => id);
    await model().generate(requestOf([user('why?'), message, result(one ?? ''), result(two ?? '')]));

    const [, turn, answers] = wire.last().body.contents as object[];
    expect(turn).toEqual({ role: 'model', parts });
    expect(answers).toEqual({
      role: 'user',
      parts: [1, 2].map(() => ({
        functionResponse: { name: 'sandbox_exec', response: { output: { exit_code: 0 } } },
      })),
    });
  });

  test('is answered in the order of its calls, whichever ended first', async () => {
    wire.reply(answerWith(...chunks));
    wire.mock.on({}, { content: 'done' });
    const { message } = await model().generate(requestOf([user('why?')]));
    const [one = '', two = ''] = message.toolCalls.map(({ id }) => id);

    await model().generate(
      requestOf([user('why?'), message, result(two, '{"n":2}'), result(one, '{"n":1}')]),
    );

    const [, , answers] = wire.last().body.contents as { parts: object[] }[];
    expect(answers?.parts).toMatchObject([
      { functionResponse: { response: { output: { n: 1 } } } },
      { functionResponse: { response: { output: { n: 2 } } } },
    ]);
  });

  test('gives its calls ids from their position, the same each time', async () => {
    wire.reply(answerWith(...chunks));
    wire.reply(answerWith(...chunks));
    const ids = async () =>
      (await model().generate(requestOf([user('why?')]))).message.toolCalls.map(({ id }) => id);

    expect([await ids(), await ids()]).toEqual([
      ['call_1_0', 'call_1_1'],
      ['call_1_0', 'call_1_1'],
    ]);
  });

  test('never gives an id that the history already has', async () => {
    wire.reply(answerWith(...chunks));

    const { message } = await model().generate(
      requestOf([user('why?'), assistant('', 'call_3_0'), result('call_3_0')]),
    );

    expect(message.toolCalls.map(({ id }) => id)).toEqual(['call_3_0_', 'call_3_1']);
  });

  test('is canonical for another provider, thoughts left out', async () => {
    wire.reply(answerWith(...chunks));
    wire.mock.on({}, { content: 'done' });
    const { message } = await model().generate(requestOf([user('why?')]));
    const claude = createAnthropicModel({ model: 'claude-sonnet-5-5', apiKey: KEY, baseUrl: wire.url });

    await claude.generate(requestOf([user('why?'), message, result('call_1_0'), result('call_1_1')]));

    expect(wire.last().body.messages).toHaveProperty('1.content', [
      { type: 'text', text: 'Let me look.' },
      { type: 'tool_use', id: 'call_1_0', name: 'sandbox_exec', input: { command: 'ls' } },
      { type: 'tool_use', id: 'call_1_1', name: 'sandbox_exec', input: {} },
    ]);
  });
});

test("another provider's calls carry the signature that skips the check, on the first of a turn", async () => {
  wire.mock.on({}, { content: 'ok' });
  const messages = [
    user('why?'),
    assistant('So.', 'a', 'b'),
    result('a', '[1]'),
    result('b', '{"x":1}', true),
  ];

  await model().generate(requestOf(messages));

  const name = 'sandbox_exec';
  expect(wire.last().body.contents).toEqual([
    { role: 'user', parts: [{ text: 'why?' }] },
    {
      role: 'model',
      parts: [
        { text: 'So.' },
        {
          functionCall: { id: 'a', name, args: { command: 'a' } },
          thoughtSignature: 'skip_thought_signature_validator',
        },
        { functionCall: { id: 'b', name, args: { command: 'b' } } },
      ],
    },
    {
      role: 'user',
      parts: [
        { functionResponse: { id: 'a', name, response: { output: [1] } } },
        { functionResponse: { id: 'b', name, response: { error: { x: 1 } } } },
      ],
    },
  ]);
});

test('words after results are a content of their own, which is all that newer models take', async () => {
  wire.mock.on({}, { content: 'ok' });
  const messages = [user('why?'), user('really?'), assistant('', 'a'), result('a'), user('and now?')];

  await model().generate(requestOf(messages, { transient: 'Wrap up.' }));

  expect(wire.last().body.contents).toMatchObject([
    { role: 'user', parts: [{ text: 'why?' }, { text: 'really?' }] },
    { role: 'model', parts: [{ functionCall: { id: 'a' } }] },
    { role: 'user', parts: [{ functionResponse: { id: 'a' } }] },
    { role: 'user', parts: [{ text: 'and now?' }, { text: 'Wrap up.' }] },
  ]);
});

test('a turn in two pieces is one content', async () => {
  wire.mock.on({}, { content: 'ok' });
  const messages = [user('why?'), assistant('Beca'), assistant('use.', 'a'), result('a')];

  await model().generate(requestOf(messages));

  const contents = wire.last().body.contents as { role: string }[];
  expect(contents.map(({ role }) => role)).toEqual(['user', 'model', 'user']);
});

test('an answer of nothing but space is empty', async () => {
  wire.reply(answerWith(chunk([{ text: '\n\n' }], 'STOP')));

  expect(await model().generate(requestOf([user('why?')]))).toMatchObject({ message: { content: '' } });
});

test('cached input is counted once, and thoughts as output', async () => {
  wire.reply(
    answerWith(
      { ...chunk([{ text: 'o' }]), usageMetadata: { promptTokenCount: 2300, candidatesTokenCount: 1 } },
      {
        ...chunk([{ text: 'k' }], 'STOP'),
        usageMetadata: {
          promptTokenCount: 2310,
          cachedContentTokenCount: 2000,
          toolUsePromptTokenCount: 5,
          candidatesTokenCount: 30,
          thoughtsTokenCount: 12,
        },
      },
    ),
  );

  const { usage } = await model().generate(requestOf([user('why?')]));

  expect(usage).toEqual({ inputTokens: 315, cacheReadTokens: 2000, cacheWriteTokens: 0, outputTokens: 42 });
});

test.each([
  ['STOP', 'end'],
  ['MAX_TOKENS', 'length'],
  ['LANGUAGE', 'other'],
])('an answer that finishes for %s ends as %s', async (reason, stop) => {
  wire.reply(answerWith(chunk([{ text: 'ok' }], reason)));

  expect(await model().generate(requestOf([user('why?')]))).toMatchObject({ stop });
});

test.each(['SAFETY', 'RECITATION', 'PROHIBITED_CONTENT'])(
  '%s is a refusal, for another model',
  async (reason) => {
    wire.reply(answerWith(chunk([{ text: 'I must not' }], reason)));

    await expect(model().generate(requestOf([user('why?')]))).rejects.toMatchObject({ kind: 'switch' });
  },
);

test('a call that the vendor itself could not read is asked for again', async () => {
  wire.reply(answerWith(chunk([{ text: 'ok' }], 'MALFORMED_FUNCTION_CALL')));

  await expect(model().generate(requestOf([user('why?')]))).rejects.toMatchObject({ kind: 'retry' });
});

test.each([
  ['off', { includeThoughts: false, thinkingLevel: 'LOW' }],
  ['on', { includeThoughts: true }],
  ['low', { includeThoughts: true, thinkingLevel: 'LOW' }],
  ['medium', { includeThoughts: true, thinkingLevel: 'MEDIUM' }],
  ['high', { includeThoughts: true, thinkingLevel: 'HIGH' }],
  [undefined, undefined],
] as const)('thinking %s is asked for as %o, and nothing else changes', async (thinking, thinkingConfig) => {
  wire.mock.on({}, { content: 'ok' });
  const options = { model: 'gemini-3.8-flash', apiKey: KEY, baseUrl: wire.url, thinking };

  await createGeminiModel(options).generate(requestOf([user('why?')]));

  expect(wire.last().body).toEqual({
    systemInstruction: { role: 'user', parts: [{ text: 'You are Hummingbird.' }] },
    contents: [{ role: 'user', parts: [{ text: 'why?' }] }],
    tools: [
      {
        functionDeclarations: [
          {
            name: 'sandbox_exec',
            description: 'Runs a command',
            parametersJsonSchema: {
              type: 'object',
              properties: { command: { type: 'string' } },
              required: ['command'],
            },
          },
        ],
      },
    ],
    generationConfig: { maxOutputTokens: 1234, ...(thinkingConfig && { thinkingConfig }) },
  });
});

test('an answer to be continued is not continued behind our back', async () => {
  const [candidate] = chunk([{ text: 'half' }], 'CONTINUATION').candidates;
  wire.reply(answerWith({ candidates: [{ ...candidate, continuationToken: 'dG9rZW4=' }] }));
  wire.mock.on({}, { content: ' and half' });

  const turn = await model().generate(requestOf([user('why?')]));

  expect(turn).toMatchObject({ stop: 'other', message: { content: 'half' } });
  expect(wire.sent).toHaveLength(1);
});

test('a prompt that is refused is one for another model', async () => {
  wire.reply(answerWith({ promptFeedback: { blockReason: 'PROHIBITED_CONTENT' } }));

  await expect(model().generate(requestOf([user('why?')]))).rejects.toMatchObject({
    kind: 'switch',
    message: expect.stringContaining('PROHIBITED_CONTENT'),
  });
});

describe('an error', () => {
  const retryInfo = (retryDelay: string) => ({
    error: {
      code: 429,
      message: 'quota',
      details: [{ '@type': 'google.rpc.Help' }, { '@type': 'google.rpc.RetryInfo', retryDelay }],
    },
  });

  test.each([
    [retryInfo('34.07s'), 34_070],
    [retryInfo('0s'), 0],
    [[retryInfo('2s')], 2000],
    [retryInfo('later'), undefined],
    [{ error: { code: 429, message: 'quota' } }, undefined],
  ])('%# tells in its details how long to wait', async (body, retryAfterMs) => {
    wire.reply(failWith(429, body));

    await expect(model().generate(requestOf([user('why?')]))).rejects.toMatchObject({
      kind: 'retry',
      message: 'gemini answered 429: quota',
      retryAfterMs,
    });
  });

  test.each([
    ['API key not valid. Please pass a valid API key.', 'switch'],
    ['User location is not supported for the API use.', 'switch'],
    ['Request payload size exceeds the limit: 20971520 bytes.', 'too-long'],
    ['Unable to submit request because it has no text.', 'stop'],
  ])('400 "%s" means %s', async (message, kind) => {
    wire.reply(failWith(400, { error: { code: 400, message, status: 'INVALID_ARGUMENT' } }));

    await expect(model().generate(requestOf([user('why?')]))).rejects.toMatchObject({ kind });
  });

  test('inside the stream counts as its status', async () => {
    wire.reply(
      answerWith(chunk([{ text: 'half' }]), {
        error: { code: 503, message: 'overloaded', status: 'UNAVAILABLE' },
      }),
    );

    await expect(model().generate(requestOf([user('why?')]))).rejects.toMatchObject({
      kind: 'retry',
      message: 'gemini answered 503: overloaded',
      unbilled: false,
    });
  });
});

function model() {
  return createGeminiModel({ model: 'gemini-3.8-flash', apiKey: KEY, baseUrl: wire.url });
}

function chunk(parts: object[], finishReason?: string): { candidates: object[] } {
  return { candidates: [{ content: { role: 'model', parts }, ...(finishReason && { finishReason }) }] };
}
