import { bytesOf } from './groups.ts';
import type { Message } from './messages.ts';
import type { ModelRequest } from './model.ts';

/** Models count the same text differently. */
const FOREIGN_FACTOR = 2;
/** Of text that no model has counted yet. */
const USUAL_BYTES_PER_TOKEN = 4;
/** No text of ours has shorter tokens with the models we know. */
const LEAST_BYTES_PER_TOKEN = 2;
const FRAME_BYTES_PER_TOKEN = 3;
/** Some of it may be denser than the rest. */
const DENSITY_MARGIN = 0.9;

export interface EstimateOptions {
  /** Who will count. */
  model: string;
  /** 1 makes it an upper bound: no token has less than a byte. */
  bytesPerToken: number;
  /** Of the system text and the tools, which are our own words; the same unless told. */
  frameBytesPerToken?: number;
}

/** How large a request is: as a model counted it last, and what has come since by its bytes. */
export function estimateTokens(
  {
    system,
    tools,
    messages,
    transient = '',
  }: Pick<ModelRequest, 'system' | 'tools' | 'messages' | 'transient'>,
  { model, bytesPerToken, frameBytesPerToken = bytesPerToken }: EstimateOptions,
): number {
  const at = messages.findLastIndex((message) => message.role === 'assistant' && message.size !== undefined);
  const last = messages[at];
  const size = last?.role === 'assistant' ? last.size : undefined;
  const known = size ? size.tokens * (size.model === model ? 1 : FOREIGN_FACTOR) : 0;
  const since = messages.slice(at + 1);
  const uncounted = messagesBytes(since) + Buffer.byteLength(transient);
  const frame = size ? 0 : frameBytes({ system, tools });
  return Math.ceil(known + uncounted / bytesPerToken + frame / frameBytesPerToken);
}

/** What a request will come to: as dense as is usual, unless nobody counts. */
export function likelyTokens(request: ModelRequest, model: string): number {
  const isCounted = request.messages.findLast((one) => one.role === 'assistant' && one.size !== undefined);
  const bytesPerToken = isCounted ? USUAL_BYTES_PER_TOKEN : LEAST_BYTES_PER_TOKEN;
  return estimateTokens(request, { model, bytesPerToken, frameBytesPerToken: FRAME_BYTES_PER_TOKEN });
}

/** The most that a request can come to: what nobody has counted may be dense. */
export function mostTokens(request: ModelRequest, model: string): number {
  const bytesPerToken = LEAST_BYTES_PER_TOKEN;
  return estimateTokens(request, { model, bytesPerToken, frameBytesPerToken: FRAME_BYTES_PER_TOKEN });
}

/** How many bytes surely have a token at most: as a model counted this conversation, if one has. */
export function safeBytesPerToken({ system, tools, messages }: ModelRequest, model: string): number {
  const at = messages.findLastIndex((one) => one.role === 'assistant' && one.size?.model === model);
  const counted = messages[at];
  if (counted?.role !== 'assistant' || !counted.size) return LEAST_BYTES_PER_TOKEN;
  // Without what is around the messages: how much that comes to depends on their number.
  const bytes = requestBytes({ system, tools, messages: [] }) + bytesOf(messages.slice(0, at + 1));
  return Math.max(1, (DENSITY_MARGIN * bytes) / counted.size.tokens);
}

/** Of all that is sent, roughly. */
export function requestBytes({
  system,
  tools,
  messages,
  transient = '',
}: Pick<ModelRequest, 'system' | 'tools' | 'messages' | 'transient'>): number {
  return frameBytes({ system, tools }) + messagesBytes(messages) + Buffer.byteLength(transient);
}

function frameBytes({ system, tools }: Pick<ModelRequest, 'system' | 'tools'>): number {
  return Buffer.byteLength(system) + Buffer.byteLength(JSON.stringify(tools));
}

/** As JSON, for what providers put around it. */
export function messagesBytes(messages: readonly Message[]): number {
  return messages.reduce((sum, message) => sum + sizeOf(message), 0);
}

/** What was said does not change, and is asked for again and again. */
const sizes = new WeakMap<Message, number>();

function sizeOf(message: Message): number {
  const known = sizes.get(message) ?? Buffer.byteLength(JSON.stringify(message));
  sizes.set(message, known);
  return known;
}
