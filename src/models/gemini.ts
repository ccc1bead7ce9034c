import {
  ApiError,
  type Content,
  FunctionCallingConfigMode,
  type GenerateContentConfig,
  GoogleGenAI,
  type Part,
  type ThinkingConfig,
  ThinkingLevel,
} from '@google/genai';
import type { AssistantMessage, Message, ToolCall, ToolMessage } from '../agent/messages.ts';
import { type Model, ModelError, type ModelRequest, type ModelTurn } from '../agent/model.ts';
import { createCallIds } from './call-ids.ts';
import { checkHistory } from './check-history.ts';
import { readAnswer, type WholeAnswer } from './gemini-stream.ts';
import { fromRetryInfo } from './retry-after.ts';
import type { Thinking } from './thinking.ts';
import { describeError, kindOfStatus, toModelError } from './to-model-error.ts';
import { type Access, createAuthorize, signedByUs, vertexUrl } from './vertex.ts';
import { createWatchdog, watched } from './watchdog.ts';

export type GeminiOptions = Access & {
  model: string;
  /** All that stands before `/v1`. */
  baseUrl?: string | undefined;
  thinking?: Thinking | undefined;
  /** How long the model may be silent. */
  silenceMs?: number;
};

const AUTHOR = 'gemini';
const PUBLIC_URL = 'https://generativelanguage.googleapis.com';

/**
 * Gemini 3 answers 400 when the first call of a step comes without a signature. This one stands for
 * a history that it did not write: https://ai.google.dev/gemini-api/docs/thought-signatures
 */
const FOREIGN_SIGNATURE = 'skip_thought_signature_validator';

export function createGeminiModel(options: GeminiOptions): Model {
  const { model, silenceMs = 300_000 } = options;
  const client = createClient(options);
  const authorize = createAuthorize(options);
  return {
    name: `${AUTHOR}/${model}`,
    async generate(request) {
      request.signal.throwIfAborted();
      checkHistory(request);
      const watchdog = createWatchdog(request.signal, silenceMs);
      let secret = '';
      try {
        const pass = await authorize(watchdog.signal);
        secret = pass.secret;
        const httpOptions = { headers: pass.headers };
        const config = { ...toRequest(request, options), httpOptions, abortSignal: watchdog.signal };
        const contents = toMessages(request);
        const chunks = await client.models.generateContentStream({ model, contents, config });
        const whole = await readAnswer(watched(chunks, watchdog), (delta) => request.onDelta?.(delta));
        return fromResponse(whole, request.messages);
      } catch (error) {
        watchdog.signal.throwIfAborted();
        throw toError(error, secret);
      } finally {
        watchdog.stop();
      }
    },
  };
}

export function toRequest(
  { system, tools, toolsDisabled, maxOutputTokens }: ModelRequest,
  { thinking }: Pick<GeminiOptions, 'thinking'>,
): GenerateContentConfig {
  return {
    maxOutputTokens,
    // The SDK would call tools, and send a broken request again, by itself.
    automaticFunctionCalling: { disable: true },
    automaticContinuation: false,
    ...(system !== '' && { systemInstruction: system }),
    ...(tools.length > 0 && {
      tools: [
        {
          functionDeclarations: tools.map(({ name, description, inputSchema }) => ({
            name,
            description,
            parametersJsonSchema: inputSchema,
          })),
        },
      ],
      ...(toolsDisabled && {
        toolConfig: { functionCallingConfig: { mode: FunctionCallingConfigMode.NONE } },
      }),
    }),
    ...(thinking !== undefined && { thinkingConfig: toThinking(thinking) }),
  };
}

export function toMessages({ messages, transient }: Pick<ModelRequest, 'messages' | 'transient'>): Content[] {
  const words: Message[] = transient === undefined ? [] : [{ role: 'user', content: transient }];
  const merged: { role: string; parts: Part[] }[] = [];
  // An answer names its call by id only if the call, as it is sent, has that id.
  const ids = new Set<string>();
  for (const message of [...messages, ...words]) {
    if (message.role === 'assistant') {
      const parts = toParts(message);
      for (const { functionCall } of parts) if (functionCall?.id !== undefined) ids.add(functionCall.id);
      merged.push({ role: 'model', parts });
      continue;
    }
    const part = message.role === 'user' ? { text: message.content } : toFunctionResponse(message, ids);
    const last = merged.at(-1);
    if (last?.role === 'user') last.parts.push(part);
    else merged.push({ role: 'user', parts: [part] });
  }
  return merged;
}

export function fromResponse(
  { parts, finishReason, usage }: WholeAnswer,
  history: readonly Message[],
): ModelTurn {
  const toolCalls = fromFunctionCalls(parts, history);
  const cached = usage.cachedContentTokenCount ?? 0;
  const message: AssistantMessage = {
    role: 'assistant',
    content: parts.map(({ text, thought }) => (thought ? '' : (text ?? ''))).join(''),
    toolCalls,
    ...(parts.length > 0 && { native: { author: AUTHOR, content: { role: 'model', parts } } }),
  };
  return {
    message,
    usage: {
      inputTokens: (usage.promptTokenCount ?? 0) - cached + (usage.toolUsePromptTokenCount ?? 0),
      cacheReadTokens: cached,
      cacheWriteTokens: 0,
      outputTokens: (usage.candidatesTokenCount ?? 0) + (usage.thoughtsTokenCount ?? 0),
    },
    stop: fromFinishReason(finishReason, toolCalls.length > 0),
  };
}

export function toError(error: unknown, apiKey: string): ModelError {
  if (error instanceof ModelError) return error;
  if (!(error instanceof ApiError))
    return toModelError(
      { kind: 'retry', message: `gemini: the answer broke off: ${describeError(error)}`, cause: error },
      apiKey,
    );
  const { message, details } = fromErrorBody(error.message);
  return toModelError(
    {
      kind: error.status === 400 ? kindOfBadRequest(message) : kindOfStatus(error.status),
      message: `gemini answered ${error.status}: ${message}`,
      cause: error,
      retryAfterMs: fromRetryInfo(details),
    },
    apiKey,
  );
}

/**
 * All that tells Vertex AI from the Gemini API. It asks once as long as there are no `retryOptions`; what is not set
 * here, the environment may choose.
 */
function createClient({ apiKey, vertex, baseUrl }: GeminiOptions): GoogleGenAI {
  const apiVersion = 'v1';
  if (!vertex)
    return new GoogleGenAI({
      apiKey,
      vertexai: false,
      apiVersion,
      httpOptions: { baseUrl: baseUrl ?? PUBLIC_URL },
    });
  return new GoogleGenAI({
    vertexai: true,
    project: vertex.project,
    location: vertex.location,
    googleAuthOptions: { authClient: signedByUs },
    apiVersion,
    httpOptions: { baseUrl: baseUrl ?? vertexUrl(vertex) },
  });
}

/** No model of theirs can be kept from thinking, and this is the least that all of them know. */
function toThinking(thinking: Thinking): ThinkingConfig {
  if (thinking === 'off') return { includeThoughts: false, thinkingLevel: ThinkingLevel.LOW };
  return { includeThoughts: true, ...(thinking !== 'on' && { thinkingLevel: LEVELS[thinking] }) };
}

const LEVELS = { low: ThinkingLevel.LOW, medium: ThinkingLevel.MEDIUM, high: ThinkingLevel.HIGH };

function toParts({ native, content, toolCalls }: AssistantMessage): Part[] {
  if (native?.author === AUTHOR) return (native.content as Content).parts ?? [];
  return [
    ...(content.trim() === '' ? [] : [{ text: content }]),
    ...toolCalls.map(({ id, name, arguments: args }, index) => ({
      functionCall: { id, name, args },
      ...(index === 0 && { thoughtSignature: FOREIGN_SIGNATURE }),
    })),
  ];
}

function toFunctionResponse({ toolCallId, name, content, isError }: ToolMessage, ids: Set<string>): Part {
  // Under its own key a result can not be mistaken: the API gives meaning to some names on top.
  const result = { [isError ? 'error' : 'output']: fromJson(content) ?? content };
  return {
    functionResponse: { ...(ids.has(toolCallId) && { id: toolCallId }), name, response: result },
  };
}

function fromFunctionCalls(parts: Part[], history: readonly Message[]): ToolCall[] {
  const toId = createCallIds(history);
  return parts
    .flatMap(({ functionCall }) => functionCall ?? [])
    .map(({ id, name = '', args = {} }, index) => ({ id: toId(id, index), name, arguments: args }));
}

function fromFinishReason(reason: string, hasCalls: boolean): ModelTurn['stop'] {
  if (reason === 'MAX_TOKENS') return 'length';
  if (hasCalls) return 'tool-calls';
  return reason === 'STOP' ? 'end' : 'other';
}

/** Google has one status for many mistakes, and not all of them are in the request. */
function kindOfBadRequest(message: string): ModelError['kind'] {
  if (/input token count.*exceeds the maximum|payload size exceeds the limit/is.test(message))
    return 'too-long';
  return /API key|location is not supported/i.test(message) ? 'switch' : 'stop';
}

/** The SDK puts the body into the message: `{"error":{…}}`, within a list, or behind `got status: …`. */
function fromErrorBody(text: string): { message: string; details?: unknown } {
  const body = fromJson(text.slice(Math.max(0, text.search(/[[{]/))));
  const { error } = ((Array.isArray(body) ? body[0] : body) ?? {}) as {
    error?: { message?: unknown; details?: unknown };
  };
  if (typeof error?.message !== 'string') return { message: text };
  return { message: error.message, details: error.details };
}

function fromJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
