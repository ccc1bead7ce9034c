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
  // A reply adds to the system text, so that what was counted before it was counted with another one.
  const isOfAnotherRun = count.since.some(({ role }) => role === 'user');
  const since = saidBytes({ ...request, messages: count.since });
  return Math.ceil(count.tokens + since + (isOfAnotherRun ? frameTokens(request, ownBytesPerToken) : 0));
}

/** Of all that is sent. */
export function requestBytes(request: Sent): number {
  return Buffer.byteLength(toFrame(request)) + saidBytes(request);
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
): { tokens: number; since: readonly Message[] } | null {
  const at = messages.findLastIndex(
    (one) => one.role === 'assistant' && one.size && isCounter(one.size.model),
  );
  const counted = messages[at];
  if (counted?.role !== 'assistant' || !counted.size) return null;
  return { tokens: counted.size.tokens, since: messages.slice(at + 1) };
}

function saidBytes({ messages, transient = '' }: Pick<Sent, 'messages' | 'transient'>): number {
  return messagesBytes(messages) + Buffer.byteLength(transient);
}

/** Digits, marks and letters of other scripts may be a token for each byte here, too. */
function frameTokens(request: Sent, ownBytesPerToken: number = OWN_BYTES_PER_TOKEN): number {
  const frame = toFrame(request);
  const words = frame.match(WORDS)?.reduce((sum, word) => sum + word.length, 0) ?? 0;
  return Buffer.byteLength(frame) - words + words / ownBytesPerToken;
}

const WORDS = /[a-z ]+/gi;

function toFrame({ system, tools }: Pick<Sent, 'system' | 'tools'>): string {
  return system + JSON.stringify(tools);
}

/** What was said does not change, and is asked for again and again. */
const sizes = new WeakMap<Message, number>();

function sizeOf(message: Message): number {
  const known = sizes.get(message) ?? ENVELOPE_BYTES + contentBytes(message);
  sizes.set(message, known);
  return known;
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
