import { isDeepStrictEqual } from 'node:util';
import type { AssistantMessage, ToolCall } from '../agent/messages.ts';

/** What a turn says, in whichever form; some providers give their calls no ids. */
export interface Said {
  content: string;
  toolCalls: (Omit<ToolCall, 'id'> & { id?: string | undefined })[];
}

export interface NativeForm<T> {
  author: string;
  /** It comes from a file, so it may be anything. */
  is: (content: unknown) => content is T;
  read: (content: T) => Said;
}

/**
 * The turn as this provider wrote it, to be sent back as it is. Undefined when another one wrote it, and also when it
 * does not say what the turn says: then the turn was changed later, and the turn counts.
 */
export function nativeOf<T>(message: AssistantMessage, form: NativeForm<T>): T | undefined {
  const { native } = message;
  if (native?.author !== form.author) return undefined;
  let holds = known.get(message);
  if (holds === undefined) {
    holds = form.is(native.content) && isSame(message, form, native.content);
    known.set(message, holds);
  }
  return holds ? (native.content as T) : undefined;
}

/** A turn is never changed in place, and looking at each one before each request adds up. */
const known = new WeakMap<AssistantMessage, boolean>();

function isSame<T>({ content, toolCalls }: AssistantMessage, form: NativeForm<T>, native: T): boolean {
  // Only what both have: a later release may keep more of a call.
  const canonical = toolCalls.map(({ id, name, arguments: args }) => ({ id, name, arguments: args }));
  try {
    const said = form.read(native);
    const calls = said.toolCalls.map((call, index) => ({ ...call, id: call.id ?? toolCalls[index]?.id }));
    return said.content === content && isDeepStrictEqual(calls, canonical);
  } catch {
    // Out of a file comes anything; what can not be read does not say what the turn says.
    return false;
  }
}

/** A text of nothing but space says nothing: not all providers take it back, and nobody should take it for an answer. */
export function toText(text: string): string {
  return text.trim() === '' ? '' : text;
}
