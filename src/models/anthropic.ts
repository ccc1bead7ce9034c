import Anthropic from '@anthropic-ai/sdk';
import type { AssistantMessage, Message, ToolCall } from '../agent/messages.ts';
import { type Model, ModelError, type ModelRequest, type ModelTurn } from '../agent/model.ts';
import { createBreakpoints, type WireMessage } from './anthropic-cache.ts';
import { type ClientOptions, createAnthropicClient } from './anthropic-client.ts';
import { createToolUseIds, type ToolUseIds } from './anthropic-ids.ts';
import { readMessage, type WholeMessage } from './anthropic-stream.ts';
import { askVendor } from './ask-vendor.ts';
import { type Converter, createConverter } from './converter.ts';
import { nativeOf, type Said } from './native.ts';
import { fromRetryAfter } from './retry-after.ts';
import type { Thinking } from './thinking.ts';
import { describeError, kindOfStatus, toModelError } from './to-model-error.ts';
import { toToolName } from './tool-name.ts';
import { createAuthorize } from './vertex.ts';
import { watched } from './watchdog.ts';

export type AnthropicOptions = ClientOptions & {
  model: string;
  thinking?: Thinking | undefined;
  /** How long the model may be silent. */
  silenceMs?: number;
};

const AUTHOR = 'anthropic';

export function createAnthropicModel(options: AnthropicOptions): Model {
  const { model, silenceMs = 300_000 } = options;
  const client = createAnthropicClient(options, silenceMs);
  const authorize = createAuthorize(options);
  const breakpoints = createBreakpoints();
  const convert = createWireConverter();
  return {
    name: `${AUTHOR}/${model}`,
    async generate(request) {
      let secret = '';
      const toOwnError = (error: unknown): ModelError => toError(error, secret);
      return askVendor(request, { silenceMs, toError: toOwnError }, async (watchdog) => {
        const pass = await authorize(watchdog.signal);
        secret = pass.secret;
        const said = toMessages(request, convert);
        const { messages, keep } = breakpoints.place(said, request.transient !== undefined);
        const body = toRequest(request, messages, options);
        const { headers } = pass;
        const events = await client.messages.create(body, { signal: watchdog.signal, headers });
        const whole = await readMessage(watched(events, watchdog), (delta) => request.onDelta?.(delta));
        keep();
        return fromResponse(whole);
      });
    },
  };
}

export function toRequest(
  { system, tools, toolsDisabled, maxOutputTokens }: ModelRequest,
  messages: WireMessage[],
  { model, thinking }: Pick<AnthropicOptions, 'model' | 'thinking'>,
): Anthropic.MessageCreateParamsStreaming {
  return {
    model,
    max_tokens: maxOutputTokens,
    stream: true,
    ...(system !== '' && { system }),
    ...(tools.length > 0 && {
      tools: tools.map(({ name, description, inputSchema }) => ({
        name,
        description,
        input_schema: { ...inputSchema, type: 'object' as const },
      })),
      ...(toolsDisabled && { tool_choice: { type: 'none' as const } }),
    }),
    ...(thinking !== undefined && toThinking(thinking)),
    messages,
  };
}

export function toMessages(
  { messages, transient }: Pick<ModelRequest, 'messages' | 'transient'>,
  convert: Converter<WireMessage> = createWireConverter(),
): WireMessage[] {
  const merged: WireMessage[] = [];
  const add = (message: WireMessage): void => {
    const last = merged.at(-1);
    if (message.role !== last?.role) merged.push(message);
    else merged[merged.length - 1] = { ...last, content: [...last.content, ...message.content] };
  };
  for (const message of convert(messages)) add(message);
  if (transient !== undefined) add({ role: 'user', content: [{ type: 'text', text: transient }] });
  return merged;
}

export function fromResponse({ content, stopReason, usage }: WholeMessage): ModelTurn {
  if (stopReason === 'refusal') throw new ModelError('switch', 'anthropic: the model refused to answer');
  // The API sends blank texts and refuses to have them back.
  const blocks = content.filter((block) => block.type !== 'text' || block.text.trim() !== '');
  const message: AssistantMessage = {
    role: 'assistant',
    ...fromBlocks(blocks),
    ...(blocks.length > 0 && { native: { author: AUTHOR, content: blocks } }),
  };
  return {
    message,
    usage: {
      inputTokens: usage.input_tokens ?? 0,
      cacheReadTokens: usage.cache_read_input_tokens ?? 0,
      cacheWriteTokens: usage.cache_creation_input_tokens ?? 0,
      outputTokens: usage.output_tokens,
    },
    stop: fromStopReason(stopReason),
  };
}

export function toError(error: unknown, apiKey: string): ModelError {
  if (error instanceof ModelError) return error;
  if (!(error instanceof Anthropic.APIError))
    return toModelError(
      { kind: 'retry', message: `anthropic: the answer broke off: ${describeError(error)}`, cause: error },
      apiKey,
    );
  // An error inside a stream has a type, but no status of its own.
  const status = error.status ?? (error.type === null ? undefined : STATUS_OF_TYPE[error.type]);
  const text = error.apiMessage ?? fromGoogle(error.error) ?? describeError(error);
  return toModelError(
    {
      kind: status === 400 && TOO_LONG.test(text) ? 'too-long' : kindOfStatus(status),
      message: status === undefined ? `anthropic: ${text}` : `anthropic answered ${status}: ${text}`,
      cause: error,
      retryAfterMs: fromRetryAfter(error.headers),
      refusedWith: error.status,
    },
    apiKey,
  );
}

function toThinking(thinking: Thinking): Pick<Anthropic.MessageCreateParams, 'thinking' | 'output_config'> {
  if (thinking === 'off') return { thinking: { type: 'disabled' } };
  return {
    thinking: { type: 'adaptive', display: 'summarized' },
    ...(thinking !== 'on' && { output_config: { effort: thinking } }),
  };
}

/** On Vertex AI some errors are Google's, and those come in a list. */
function fromGoogle(body: unknown): string | undefined {
  const [first] = Array.isArray(body) ? (body as { error?: { message?: unknown } }[]) : [];
  return typeof first?.error?.message === 'string' ? first.error.message : undefined;
}

const STATUS_OF_TYPE: Record<string, number> = {
  invalid_request_error: 400,
  authentication_error: 401,
  billing_error: 402,
  permission_error: 403,
  not_found_error: 404,
  request_too_large: 413,
  rate_limit_error: 429,
};

/** There is no code for it, so the words have to do. */
const TOO_LONG = /prompt is too long|exceeds? (?:the )?(?:model's )?context (?:limit|window)/i;

function createWireConverter(): Converter<WireMessage> {
  return createConverter(() => {
    const ids = createToolUseIds();
    return (message) => toMessage(message, ids);
  });
}

function toMessage(message: Message, ids: ToolUseIds): WireMessage {
  switch (message.role) {
    case 'user':
      return { role: 'user', content: [{ type: 'text', text: message.content }] };
    case 'tool':
      return {
        role: 'user',
        content: [
          {
            type: 'tool_result',
            tool_use_id: ids.find(message.toolCallId),
            content: message.content,
            is_error: message.isError,
          },
        ],
      };
    case 'assistant':
      return { role: 'assistant', content: toBlocks(message, ids) };
  }
}

function toBlocks(message: AssistantMessage, ids: ToolUseIds): Anthropic.ContentBlockParam[] {
  const { content, toolCalls } = message;
  const isUnchanged = ids.assign(toolCalls);
  const native = nativeOf(message, { author: AUTHOR, is: isBlocks, read: fromBlocks });
  if (native && isUnchanged) return native;
  return [
    ...(content.trim() === '' ? [] : [{ type: 'text' as const, text: content }]),
    ...toolCalls.map(({ id, name, arguments: input }) => ({
      type: 'tool_use' as const,
      id: ids.find(id),
      name: toToolName(name),
      input,
    })),
  ];
}

function isBlocks(native: unknown): native is Anthropic.ContentBlock[] {
  return Array.isArray(native) && native.every((block) => typeof block?.type === 'string');
}

function fromBlocks(blocks: Anthropic.ContentBlock[]): Said & { toolCalls: ToolCall[] } {
  return {
    content: blocks.map((block) => (block.type === 'text' ? block.text : '')).join(''),
    toolCalls: blocks.filter((block) => block.type === 'tool_use').map(fromToolUse),
  };
}

function fromToolUse({ id, name, input }: Anthropic.ToolUseBlock): ToolCall {
  return { id, name, arguments: input as Record<string, unknown> };
}

function fromStopReason(reason: Anthropic.StopReason | null): ModelTurn['stop'] {
  switch (reason) {
    case 'end_turn':
    case 'stop_sequence':
      return 'end';
    case 'tool_use':
      return 'tool-calls';
    case 'max_tokens':
    case 'model_context_window_exceeded':
      return 'length';
    default:
      return 'other';
  }
}
