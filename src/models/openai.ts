import OpenAI from 'openai';
import type { AssistantMessage, Message } from '../agent/messages.ts';
import { type Model, ModelError, type ModelRequest, type ModelTurn, type Usage } from '../agent/model.ts';
import { askVendor } from './ask-vendor.ts';
import { parseArguments } from './call-arguments.ts';
import { createCallIds } from './call-ids.ts';
import { fromJson } from './from-json.ts';
import { nativeOf, type Said, toText } from './native.ts';
import { fromApiError } from './openai-failure.ts';
import { readCompletion, type WholeCompletion } from './openai-stream.ts';
import { fromRetryAfter } from './retry-after.ts';
import type { Thinking } from './thinking.ts';
import { describeError, toModelError } from './to-model-error.ts';
import { toToolName } from './tool-name.ts';
import { watched } from './watchdog.ts';

export interface OpenAIOptions {
  model: string;
  /** Left out for a server that knows no keys. */
  apiKey?: string | undefined;
  /** Everything before `/chat/completions`, so mostly with a `/v1` at its end. */
  baseUrl?: string | undefined;
  thinking?: Thinking | undefined;
  /** How long the model may be silent. */
  silenceMs?: number;
}

/** Many servers speak this format, and what one of them thought means nothing to the next. */
type Origin = { baseUrl: string; model: string };
type WireMessage = OpenAI.ChatCompletionMessageParam;

const AUTHOR = 'openai';
const PUBLIC_URL = 'https://api.openai.com/v1';

export function createOpenAIModel(options: OpenAIOptions): Model {
  const { model, apiKey = '', baseUrl = PUBLIC_URL, silenceMs = 300_000 } = options;
  const origin = { baseUrl, model };
  const headers = {
    accept: 'application/json',
    'content-type': 'application/json',
    'user-agent': 'hummingbird',
    ...(apiKey !== '' && { authorization: `Bearer ${apiKey}` }),
  };
  // What is left out here, the environment may choose. It may also choose headers, and nothing but a
  // `fetch` of one's own keeps it from that. The logger would print parts of a broken answer.
  const client = new OpenAI({
    apiKey: apiKey || 'none',
    adminAPIKey: null,
    organization: null,
    project: null,
    webhookSecret: null,
    baseURL: baseUrl,
    maxRetries: 0,
    timeout: silenceMs,
    logLevel: 'off',
    fetch: (url, init) => fetch(url, { ...init, headers }),
  });
  return {
    name: `${AUTHOR}/${model}`,
    async generate(request) {
      const toOwnError = (error: unknown): ModelError => toError(error, apiKey);
      return askVendor(request, { silenceMs, toError: toOwnError }, async (watchdog) => {
        const body = toRequest(request, toMessages(request, origin), { ...options, baseUrl });
        const chunks = await client.chat.completions.create(body, { signal: watchdog.signal });
        const whole = await readCompletion(watched(chunks, watchdog), (delta) => request.onDelta?.(delta));
        return fromResponse(whole, request.messages, origin);
      });
    },
  };
}

export function toRequest(
  { system, tools, toolsDisabled, maxOutputTokens }: ModelRequest,
  messages: WireMessage[],
  { model, baseUrl, thinking }: Origin & Pick<OpenAIOptions, 'thinking'>,
): OpenAI.ChatCompletionCreateParamsStreaming {
  return {
    model,
    stream: true,
    stream_options: { include_usage: true },
    ...toOutputLimit(maxOutputTokens, baseUrl),
    ...(tools.length > 0 && {
      tools: tools.map(({ name, description, inputSchema }) => ({
        type: 'function' as const,
        function: { name, description, parameters: inputSchema },
      })),
      ...(toolsDisabled && { tool_choice: 'none' as const }),
    }),
    ...(thinking !== undefined && { reasoning_effort: EFFORTS[thinking] }),
    // Not `developer`, which only OpenAI knows and which means the same there.
    messages: [...(system === '' ? [] : [{ role: 'system' as const, content: system }]), ...messages],
  };
}

export function toMessages(
  { messages, transient }: Pick<ModelRequest, 'messages' | 'transient'>,
  origin: Origin,
): WireMessage[] {
  const words: Message[] = transient === undefined ? [] : [{ role: 'user', content: transient }];
  return [...messages, ...words].map((message) => toMessage(message, origin));
}

export function fromResponse(
  { content, reasoning, calls, finishReason, usage }: WholeCompletion,
  history: readonly Message[],
  origin: Origin,
): ModelTurn {
  const toId = createCallIds(history);
  const named = calls.map((call, index) => ({ ...call, id: toId(call.id, index) }));
  const isCutOff = finishReason === 'length';
  const message: AssistantMessage = {
    role: 'assistant',
    content: toText(content),
    toolCalls: named.map(({ id, function: { name, arguments: json } }) => ({
      id,
      name,
      arguments: parseArguments(json, { author: AUTHOR, name, isCutOff }),
    })),
  };
  if (message.content !== '' || named.length > 0)
    message.native = {
      author: AUTHOR,
      content: { ...origin, message: { ...toWire(content, named), ...reasoning } } satisfies Kept,
    };
  return {
    message,
    usage: fromUsage((usage ?? {}) as WireUsage),
    stop: fromFinishReason(finishReason, named.length > 0),
  };
}

export function toError(error: unknown, apiKey: string): ModelError {
  if (error instanceof ModelError) return error;
  if (!(error instanceof OpenAI.APIError))
    return toModelError(
      { kind: 'retry', message: `openai: the answer broke off: ${describeError(error)}`, cause: error },
      apiKey,
    );
  const { kind, status, text } = fromApiError(error);
  return toModelError(
    {
      kind,
      message: status === undefined ? `openai: ${text}` : `openai answered ${status}: ${text}`,
      cause: error,
      retryAfterMs: fromRetryAfter(error.headers),
      refusedWith: error.status,
    },
    apiKey,
  );
}

/** No word of theirs leaves it to the model how much it thinks. */
const EFFORTS = { off: 'none', on: 'medium', low: 'low', medium: 'medium', high: 'high' } as const;

/** OpenAI's newer models refuse `max_tokens`; many other servers know only that, and overlook what they do not know. */
function toOutputLimit(maxOutputTokens: number, baseUrl: string) {
  return /(?:^|\.)api\.openai\.com$/.test(new URL(baseUrl).hostname)
    ? { max_completion_tokens: maxOutputTokens }
    : { max_tokens: maxOutputTokens };
}

function toMessage(message: Message, origin: Origin): WireMessage {
  switch (message.role) {
    case 'user':
      return { role: 'user', content: message.content };
    case 'tool':
      return { role: 'tool', tool_call_id: message.toolCallId, content: message.content };
    case 'assistant':
      return toAnswer(message, origin);
  }
}

/** A turn as it is kept, to be sent back to where it came from. */
type Kept = Origin & { message: ReturnType<typeof toWire> };

function toAnswer(message: AssistantMessage, origin: Origin): WireMessage {
  const kept = nativeOf(message, { author: AUTHOR, is: isKept, read: fromKept });
  if (kept?.baseUrl === origin.baseUrl && kept.model === origin.model) return kept.message;
  return toWire(
    toText(message.content),
    message.toolCalls.map(({ id, name, arguments: args }) => ({
      id,
      type: 'function',
      function: { name: toToolName(name), arguments: JSON.stringify(args) },
    })),
  );
}

function isKept(native: unknown): native is Kept {
  const { message } = (native ?? {}) as Partial<Kept>;
  const { content, tool_calls: calls = [] } = message ?? {};
  const isSaid = content === null || typeof content === 'string';
  return isSaid && Array.isArray(calls) && calls.every((call) => call?.function);
}

function fromKept({ message: { content, tool_calls: calls = [] } }: Kept): Said {
  return {
    content: toText(content ?? ''),
    toolCalls: calls.map(({ id, function: { name, arguments: json } }) => ({
      id,
      name,
      arguments: fromJson(json || '{}') as Record<string, unknown>,
    })),
  };
}

function toWire(content: string, calls: OpenAI.ChatCompletionMessageFunctionToolCall[]) {
  return {
    role: 'assistant' as const,
    content: content === '' ? null : content,
    ...(calls.length > 0 && { tool_calls: calls }),
  };
}

/** A server may leave out any of it, or all. */
type WireUsage = Record<string, unknown> & { prompt_tokens_details?: Record<string, unknown> | null };

function fromUsage(usage: WireUsage): Usage {
  const cacheReadTokens = toCount(usage.prompt_tokens_details?.cached_tokens);
  const cacheWriteTokens = toCount(usage.prompt_tokens_details?.cache_write_tokens);
  const promptTokens = toCount(usage.prompt_tokens);
  return {
    inputTokens: Math.max(0, promptTokens - cacheReadTokens - cacheWriteTokens),
    cacheReadTokens,
    cacheWriteTokens,
    outputTokens: toCount(usage.completion_tokens),
  };
}

function toCount(value: unknown): number {
  return typeof value === 'number' ? value : 0;
}

/** Some servers say `stop` even if there are calls. */
function fromFinishReason(reason: string, hasCalls: boolean): ModelTurn['stop'] {
  if (reason === 'length') return 'length';
  if (hasCalls) return 'tool-calls';
  return reason === 'stop' ? 'end' : 'other';
}
