import { createHash } from 'node:crypto';
import type { Message } from './messages.ts';
import type { ModelRequest } from './model.ts';

type Sent = Pick<ModelRequest, 'system' | 'tools' | 'messages' | 'transient'>;

/** Of text that no model has counted yet. */
const USUAL_BYTES_PER_TOKEN = 4;
/** The same where nobody has counted anything. */
const CAREFUL_BYTES_PER_TOKEN = 2;
/** Of words in the system text and the tools, none of which a stranger chooses. */
const OWN_BYTES_PER_TOKEN = 2;
/** What providers put around a message: its role, its place. */
const ENVELOPE_BYTES = 40;

/** What a request will come to: as a model counted it last, and what has come since as dense as is usual. */
export function likelyTokens(request: Sent): number {
  const count = findCount(request.messages, () => true);
  if (!count) return Math.ceil(saidBytes(request) / CAREFUL_BYTES_PER_TOKEN + frameTokens(request));
  return Math.ceil(count.tokens + saidBytes({ ...request, messages: count.since }) / USUAL_BYTES_PER_TOKEN);
}

/** The most that a request can come to for this model: what it has not counted itself may be a token for each byte. */
export function mostTokens(
  request: Sent,
  model: string,
  ownBytesPerToken: number = OWN_BYTES_PER_TOKEN,
): number {
  const count = findCount(request.messages, (counter) => counter === model);
  if (!count) return Math.ceil(saidBytes(request) + frameTokens(request, ownBytesPerToken));
  const since = saidBytes({ ...request, messages: count.since });
  // A reply adds to the system text, and workflow and tools may have changed since.
  const isOtherFrame = count.frame !== frameOf(request).id;
  return Math.ceil(count.tokens + since + (isOtherFrame ? frameTokens(request, ownBytesPerToken) : 0));
}

/** System text and tools, by which a count names what it was made with. */
export function nameFrame(request: Sent): string {
  return frameOf(request).id;
}

/** Of all that is sent. */
export function requestBytes(request: Sent): number {
  return frameOf(request).bytes + saidBytes(request);
}

/** Of messages as any provider is sent them; what is kept beside them does not count. */
export function messagesBytes(messages: readonly Message[]): number {
  return messages.reduce((sum, message) => sum + sizeOf(message), 0);
}

/** The messages that nobody of these has counted. */
export function findUncounted(messages: readonly Message[], model: string): readonly Message[] {
  return findCount(messages, (counter) => counter === model)?.since ?? messages;
}

/** What was counted last, and what has come since. */
function findCount(
  messages: readonly Message[],
  isCounter: (model: string) => boolean,
): { tokens: number; frame: string | undefined; since: readonly Message[] } | null {
  const at = messages.findLastIndex(
    (one) => one.role === 'assistant' && one.size && isCounter(one.size.model),
  );
  const counted = messages[at];
  if (counted?.role !== 'assistant' || !counted.size) return null;
  const { tokens, frame } = counted.size;
  return { tokens, frame, since: messages.slice(at + 1) };
}

function saidBytes({ messages, transient = '' }: Pick<Sent, 'messages' | 'transient'>): number {
  return messagesBytes(messages) + Buffer.byteLength(transient);
}

function frameTokens(request: Sent, ownBytesPerToken: number = OWN_BYTES_PER_TOKEN): number {
  const { bytes, wordBytes } = frameOf(request);
  return bytes - wordBytes + wordBytes / ownBytesPerToken;
}

interface Frame {
  bytes: number;
  /** Of our own words; digits, marks, other scripts and what strangers wrote may be a token for each byte here, too. */
  wordBytes: number;
  id: string;
}

/** It stays the same for a run, and is asked for again and again. */
const frames = new WeakMap<Sent['tools'], { system: string; frame: Frame }>();

function frameOf({ system, tools }: Sent): Frame {
  const known = frames.get(tools);
  if (known?.system === system) return known.frame;
  const all = system + JSON.stringify(tools);
  const own = system + JSON.stringify(tools.filter(({ isForeign }) => !isForeign));
  const frame = {
    bytes: Buffer.byteLength(all),
    wordBytes: own.match(WORDS)?.reduce((sum, word) => sum + word.length, 0) ?? 0,
    id: createHash('sha256').update(all).digest('hex').slice(0, 16),
  };
  frames.set(tools, { system, frame });
  return frame;
}

const WORDS = /[a-z ]+/gi;

/** What was said does not change, and is asked for again and again. */
const sizes = new WeakMap<Message, number>();

function sizeOf(message: Message): number {
  const known = sizes.get(message);
  if (known !== undefined) return known;
  const size = ENVELOPE_BYTES + contentBytes(message);
  sizes.set(message, size);
  return size;
}

function contentBytes(message: Message): number {
  if (message.role === 'user') return Buffer.byteLength(message.content);
  if (message.role === 'tool')
    return Buffer.byteLength(message.content) + Buffer.byteLength(message.toolCallId + message.name);
  const { content, toolCalls, native } = message;
  // Its own provider gets its own words, everybody else ours.
  const said = Buffer.byteLength(JSON.stringify([content, toolCalls]));
  return native ? Math.max(said, Buffer.byteLength(JSON.stringify(native.content))) : said;
}
