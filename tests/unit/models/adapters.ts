// Both adapters, with the few words their wires say differently.
import type { Model } from '../../../src/agent/model.ts';
import { createAnthropicModel } from '../../../src/models/anthropic.ts';
import { createGeminiModel } from '../../../src/models/gemini.ts';
import { type Sent, toEvents } from '../../services/model-wire.ts';
import { KEY } from './requests.ts';

export interface Adapter {
  provider: string;
  create(baseUrl: string, more?: { silenceMs?: number; thinking?: boolean }): Model;
  /** A text in two pieces. */
  stream: { start: string; end: string; garbage: string };
  tooLong: string;
  errorBody(message: string): object;
  /** What the request says, in words that are the same for all. */
  read(sent: Sent): {
    system: unknown;
    maxTokens: unknown;
    tools: unknown;
    disabled: boolean;
    turns: { role: string; parts: object[] }[];
  };
  words(text: string): object;
}

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

const anthropic: Adapter = {
  provider: 'anthropic',
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
};

const gemini: Adapter = {
  provider: 'gemini',
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
      turns: contents,
    };
  },
  words: (text) => ({ text }),
};

export const adapters = [anthropic, gemini];
