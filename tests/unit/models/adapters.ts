// The adapters, each also on Vertex AI, with the few words their wires say differently.
import type { Model } from '../../../src/agent/model.ts';
import { createAnthropicModel } from '../../../src/models/anthropic.ts';
import { createGeminiModel } from '../../../src/models/gemini.ts';
import { createOpenAIModel } from '../../../src/models/openai.ts';
import type { Thinking } from '../../../src/models/thinking.ts';
import type { VertexOptions } from '../../../src/models/vertex.ts';
import { ACCESS_TOKEN, serviceAccount } from '../../services/google-account.ts';
import { failWith, type Reply, type Sent, toEvents } from '../../services/model-wire.ts';
import { KEY } from './requests.ts';

export interface Adapter {
  name: string;
  provider: string;
  create(baseUrl: string, more?: More): Model;
  /** What it signs its requests with. */
  secret: string;
  /** A text in two pieces. */
  stream: { start: string; end: string; garbage: string };
  tooLong: string;
  errorBody(message: string): object;
  /** Refuses for now, and asks to wait. */
  askToWait(seconds: number): Reply;
  /** What the request says, in words that are the same for all. */
  read(sent: Sent): {
    system: unknown;
    maxTokens: unknown;
    tools: unknown;
    disabled: boolean;
    turns: { role: string; parts: object[] }[];
  };
  words(text: string): object;
  /** The parts of a turn of its own, out of the native content. */
  parts(native: unknown): unknown;
}

type More = { silenceMs?: number; thinking?: Thinking };

interface AnthropicBody {
  system: string;
  max_tokens: number;
  tools: { name: string; description: string; input_schema: object }[];
  tool_choice?: object;
  messages: { role: string; content: object[] }[];
}

interface GeminiBody {
  systemInstruction: { parts: { text: string }[] };
  generationConfig: { maxOutputTokens: number };
  tools: [{ functionDeclarations: { name: string; description: string; parametersJsonSchema: object }[] }];
  toolConfig?: object;
  contents: { role: string; parts: object[] }[];
}

interface OpenAIBody {
  max_tokens: number;
  tools: { type: string; function: { name: string; description: string; parameters: object } }[];
  tool_choice?: string;
  messages: OpenAIMessage[];
}

interface OpenAIMessage {
  role: string;
  content: string | null;
  reasoning_content?: string;
  tool_calls?: { function: { name: string; arguments: string } }[];
}

const anthropic: Adapter = {
  name: 'anthropic',
  provider: 'anthropic',
  secret: KEY,
  create: (baseUrl, more) =>
    createAnthropicModel({ model: 'claude-sonnet-5-5', apiKey: KEY, baseUrl, ...more }),
  stream: {
    start: toEvents(
      { type: 'message_start', message: { content: [], usage: { input_tokens: 1, output_tokens: 1 } } },
      { type: 'content_block_start', index: 0, content_block: { type: 'text', text: '' } },
      { type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text: 'first ' } },
    ),
    end: toEvents(
      { type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text: 'second' } },
      { type: 'content_block_stop', index: 0 },
      { type: 'message_delta', delta: { stop_reason: 'end_turn' }, usage: { output_tokens: 2 } },
      { type: 'message_stop' },
    ),
    garbage: 'event: content_block_delta\ndata: {"half\n\n',
  },
  tooLong: 'prompt is too long: 1036683 tokens > 1000000 maximum',
  errorBody: (message) => ({ type: 'error', error: { type: 'some_error', message } }),
  askToWait: (seconds) => failWith(429, {}, { 'retry-after': `${seconds}` }),
  read: ({ body }) => {
    const { system, max_tokens, tools, tool_choice, messages } = body as unknown as AnthropicBody;
    return {
      system,
      maxTokens: max_tokens,
      tools: tools.map(({ name, description, input_schema }) => [name, description, input_schema]),
      disabled: JSON.stringify(tool_choice) === '{"type":"none"}',
      turns: messages.map(({ role, content }) => ({
        role,
        parts: content.map((block) => ({ ...block, cache_control: undefined })),
      })),
    };
  },
  words: (text) => ({ type: 'text', text }),
  parts: (native) => native,
};

const gemini: Adapter = {
  name: 'gemini',
  provider: 'gemini',
  secret: KEY,
  create: (baseUrl, more) => createGeminiModel({ model: 'gemini-3.8-flash', apiKey: KEY, baseUrl, ...more }),
  stream: {
    start: toEvents({ candidates: [{ content: { role: 'model', parts: [{ text: 'first ' }] } }] }),
    end: toEvents({
      candidates: [{ content: { role: 'model', parts: [{ text: 'second' }] }, finishReason: 'STOP' }],
    }),
    garbage: 'data: {"half\n\n',
  },
  tooLong: 'The input token count (1200293) exceeds the maximum number of tokens allowed (1048576).',
  errorBody: (message) => ({ error: { code: 400, message, status: 'INVALID_ARGUMENT' } }),
  askToWait: (seconds) => failWith(429, { error: { message: '', details: [{ retryDelay: `${seconds}s` }] } }),
  read: ({ body }) => {
    const { systemInstruction, generationConfig, tools, toolConfig, contents } =
      body as unknown as GeminiBody;
    return {
      system: systemInstruction.parts[0]?.text,
      maxTokens: generationConfig.maxOutputTokens,
      tools: tools[0].functionDeclarations.map((tool) => [
        tool.name,
        tool.description,
        tool.parametersJsonSchema,
      ]),
      disabled: JSON.stringify(toolConfig) === '{"functionCallingConfig":{"mode":"NONE"}}',
      turns: joinTurns(contents),
    };
  },
  words: (text) => ({ text }),
  parts: (native) => (native as { parts: object[] }).parts,
};

const openai: Adapter = {
  name: 'openai',
  provider: 'openai',
  secret: KEY,
  create: (baseUrl, more) =>
    createOpenAIModel({ model: 'qwen3.8-coder', apiKey: KEY, baseUrl: `${baseUrl}/v1`, ...more }),
  stream: {
    start: toEvents(
      { choices: [{ index: 0, delta: { role: 'assistant', content: '' }, finish_reason: null }] },
      { choices: [{ index: 0, delta: { content: 'first ' }, finish_reason: null }] },
    ),
    end: `${toEvents(
      { choices: [{ index: 0, delta: { content: 'second' }, finish_reason: null }] },
      { choices: [{ index: 0, delta: {}, finish_reason: 'stop' }] },
      { choices: [], usage: { prompt_tokens: 1, completion_tokens: 2, total_tokens: 3 } },
    )}data: [DONE]\n\n`,
    garbage: 'data: {"half\n\n',
  },
  tooLong:
    "This model's maximum context length is 16384 tokens. However, you requested 122946 tokens " +
    '(112946 in the messages, 10000 in the completion). Please reduce the length of the messages or completion.',
  errorBody: (message) => ({ error: { message, type: 'BadRequestError', param: null, code: 400 } }),
  askToWait: (seconds) => failWith(429, {}, { 'retry-after': `${seconds}` }),
  read: ({ body }) => {
    const { max_tokens, tools, tool_choice, messages } = body as unknown as OpenAIBody;
    const [system, ...rest] = messages;
    return {
      system: system?.role === 'system' ? system.content : undefined,
      maxTokens: max_tokens,
      tools: tools.map(({ function: tool }) => [tool.name, tool.description, tool.parameters]),
      disabled: tool_choice === 'none',
      turns: joinTurns(rest.map(toTurn)),
    };
  },
  words: (text) => ({ role: 'user', content: text }),
  parts: (native) => toParts((native as { message: OpenAIMessage }).message),
};

interface Turn {
  role: string;
  parts: object[];
}

function toTurn(message: OpenAIMessage): Turn {
  return message.role === 'assistant'
    ? { role: 'assistant', parts: toParts(message) }
    : { role: 'user', parts: [message] };
}

/** Results and words are one user message for Anthropic, and several in a row for the others. */
function joinTurns(pieces: Turn[]): Turn[] {
  const turns: Turn[] = [];
  for (const { role, parts } of pieces) {
    const last = turns.at(-1);
    if (last?.role === role) last.parts.push(...parts);
    else turns.push({ role, parts: [...parts] });
  }
  return turns;
}

function toParts({ content, reasoning_content, tool_calls = [] }: OpenAIMessage): object[] {
  return [
    ...(reasoning_content === undefined ? [] : [{ reasoning_content }]),
    ...(content === null ? [] : [{ content }]),
    ...tool_calls.map(({ function: call }) => ({ ...call, arguments: JSON.parse(call.arguments) })),
  ];
}

const anthropicOnVertex: Adapter = {
  ...anthropic,
  name: 'anthropic on Vertex AI',
  create: (baseUrl, more) =>
    createAnthropicModel({
      model: 'claude-sonnet-4-5@20250929',
      vertex: vertexAt(baseUrl),
      baseUrl,
      ...more,
    }),
  secret: ACCESS_TOKEN,
};

const geminiOnVertex: Adapter = {
  ...gemini,
  name: 'gemini on Vertex AI',
  create: (baseUrl, more) =>
    createGeminiModel({ model: 'gemini-3.8-flash', vertex: vertexAt(baseUrl), baseUrl, ...more }),
  secret: ACCESS_TOKEN,
};

export const onVertex = [anthropicOnVertex, geminiOnVertex];
export const adapters = [anthropic, gemini, openai, ...onVertex];

/** The token endpoint is on the same server. */
export function vertexAt(url: string): VertexOptions {
  const where = { project: 'my-project', location: 'europe-west1' };
  return { ...where, serviceAccount: serviceAccount(url), learn: () => undefined };
}
