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
import { answersAfter } from '../agent/history.ts';
import type { AssistantMessage, Message, ToolCall, ToolMessage } from '../agent/messages.ts';
import { type Model, ModelError, type ModelRequest, type ModelTurn } from '../agent/model.ts';
import { askVendor } from './ask-vendor.ts';
import { createCallIds } from './call-ids.ts';
import { fromJson } from './from-json.ts';
import { fromApiError } from './gemini-failure.ts';
import { readAnswer, type WholeAnswer } from './gemini-stream.ts';
import { nativeOf, type Said, toText } from './native.ts';
import type { Thinking } from './thinking.ts';
import { describeError, toModelError } from './to-model-error.ts';
import { toToolName } from './tool-name.ts';
import { type Access, createAuthorize, signedByUs, vertexUrl } from './vertex.ts';
import { watched } from './watchdog.ts';

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
      let secret = '';
      let hasBegun = false;
      const toOwnError = (error: unknown): ModelError => toError(error, { apiKey: secret, hasBegun });
      return askVendor(request, { silenceMs, toError: toOwnError }, async (watchdog) => {
        const pass = await authorize(watchdog.signal);
        secret = pass.secret;
        const httpOptions = { headers: pass.headers };
        const config = { ...toRequest(request, options), httpOptions, abortSignal: watchdog.signal };
        const contents = toMessages(request);
        const chunks = await client.models.generateContentStream({ model, contents, config });
        hasBegun = true;
        const whole = await readAnswer(watched(chunks, watchdog), (delta) => request.onDelta?.(delta));
        return fromResponse(whole, request.messages);
      });
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
  const contents: Turn[] = [];
  [...messages, ...words].forEach((message, index, all) => {
    // Results are told with the turn that asked for them.
    if (message.role === 'user') add(contents, 'user', [{ text: message.content }]);
    if (message.role !== 'assistant') return;
    const parts = toParts(message);
    add(contents, 'model', parts);
    add(contents, 'user', toFunctionResponses(parts, message.toolCalls, answersAfter(all, index)));
  });
  return contents;
}

type Turn = { role: 'user' | 'model'; parts: Part[] };

/**
 * Joins what one side says, but never results with words: since 3.6, a text beside a result is refused as "ending
 * with a model turn".
 */
function add(contents: Turn[], role: Turn['role'], parts: Part[]): void {
  if (parts.length === 0) return;
  const last = contents.at(-1);
  if (last?.role === role && isResults(last.parts) === isResults(parts)) last.parts.push(...parts);
  else contents.push({ role, parts: [...parts] });
}

function isResults(parts: Part[]): boolean {
  return parts[0]?.functionResponse !== undefined;
}

export function fromResponse(
  { parts, finishReason, usage }: WholeAnswer,
  history: readonly Message[],
): ModelTurn {
  if (REFUSALS.has(finishReason))
    throw new ModelError('switch', `gemini: the model refused to answer (${finishReason})`);
  if (finishReason === 'MALFORMED_FUNCTION_CALL')
    throw new ModelError('retry', 'gemini: the model wrote a call that can not be read');
  const toolCalls = fromFunctionCalls(parts, history);
  const cached = usage.cachedContentTokenCount ?? 0;
  const message: AssistantMessage = {
    role: 'assistant',
    content: fromParts(parts).content,
    toolCalls,
    ...(parts.length > 0 && { native: { author: AUTHOR, content: { role: 'model', parts } } }),
  };
  return {
    message,
    usage: {
      inputTokens: Math.max(0, (usage.promptTokenCount ?? 0) - cached) + (usage.toolUsePromptTokenCount ?? 0),
      cacheReadTokens: cached,
      cacheWriteTokens: 0,
      outputTokens: (usage.candidatesTokenCount ?? 0) + (usage.thoughtsTokenCount ?? 0),
    },
    stop: fromFinishReason(finishReason, toolCalls.length > 0),
  };
}

/** The SDK gives an error within an answer a status as well; `hasBegun` tells the two apart. */
export function toError(
  error: unknown,
  { apiKey, hasBegun }: { apiKey: string; hasBegun: boolean },
): ModelError {
  if (error instanceof ModelError) return error;
  if (!(error instanceof ApiError))
    return toModelError(
      { kind: 'retry', message: `gemini: the answer broke off: ${describeError(error)}`, cause: error },
      apiKey,
    );
  const { kind, text, retryAfterMs } = fromApiError(error);
  const message = `gemini answered ${error.status}: ${text}`;
  const refusedWith = hasBegun ? undefined : error.status;
  return toModelError({ kind, message, cause: error, retryAfterMs, refusedWith }, apiKey);
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

function toParts(message: AssistantMessage): Part[] {
  const native = nativeOf(message, { author: AUTHOR, is: isContent, read: ({ parts }) => fromParts(parts) });
  if (native) return native.parts;
  const { content, toolCalls } = message;
  return [
    ...(content.trim() === '' ? [] : [{ text: content }]),
    ...toolCalls.map(({ id, name, arguments: args }, index) => ({
      functionCall: { id, name: toToolName(name), args },
      ...(index === 0 && { thoughtSignature: FOREIGN_SIGNATURE }),
    })),
  ];
}

function isContent(native: unknown): native is { parts: Part[] } {
  const parts = (native as Content | null)?.parts;
  return Array.isArray(parts) && parts.every((part) => typeof part === 'object' && part !== null);
}

function fromParts(parts: Part[]): Said {
  return {
    content: toText(parts.map(({ text, thought }) => (thought ? '' : (text ?? ''))).join('')),
    toolCalls: parts
      .flatMap(({ functionCall }) => (functionCall ? [functionCall] : []))
      .map(({ id, name = '', args = {} }) => ({ id, name, arguments: args })),
  };
}

/** In the order of the calls, under their names and, if they have any, their ids: all of that is compared. */
function toFunctionResponses(parts: Part[], calls: ToolCall[], answers: ToolMessage[]): Part[] {
  const sent = parts.flatMap(({ functionCall }) => functionCall ?? []);
  return calls.flatMap((call, index) => {
    const answer = answers.find(({ toolCallId }) => toolCallId === call.id);
    const { id, name = '' } = sent[index] ?? {};
    return answer
      ? [{ functionResponse: { ...(id !== undefined && { id }), name, response: toResult(answer) } }]
      : [];
  });
}

/** Under its own key a result can not be mistaken: the API gives meaning to some names on top. */
function toResult({ content, isError }: ToolMessage): Record<string, unknown> {
  return { [isError ? 'error' : 'output']: fromJson(content) ?? content };
}

function fromFunctionCalls(parts: Part[], history: readonly Message[]): ToolCall[] {
  const toId = createCallIds(history);
  return fromParts(parts).toolCalls.map((call, index) => ({ ...call, id: toId(call.id, index) }));
}

/** What was said until then is no answer. */
const REFUSALS = new Set<string>(['SAFETY', 'RECITATION', 'BLOCKLIST', 'PROHIBITED_CONTENT', 'SPII']);

function fromFinishReason(reason: string, hasCalls: boolean): ModelTurn['stop'] {
  if (reason === 'MAX_TOKENS') return 'length';
  if (hasCalls) return 'tool-calls';
  return reason === 'STOP' ? 'end' : 'other';
}
