// What the properties of a conversation need to know of a provider, and what a conversation says, whoever tells it.
import type fc from 'fast-check';
import type { AssistantMessage, Message } from '../../../../src/agent/messages.ts';
import type { ModelRequest } from '../../../../src/agent/model.ts';

export type Conversation = Pick<ModelRequest, 'messages' | 'transient'>;

export interface Provider {
  author: string;
  /** The messages as the adapter sends them. */
  toWire(conversation: Conversation): unknown;
  /** What of its documented rules they break; written without a look at the adapter. */
  problemsOf(wire: unknown): string[];
  read(wire: unknown): Said[];
  /** Turns as it writes them, taken in by its adapter. */
  turns: fc.Arbitrary<MakeTurn>;
  /** The parts that must come back to it as they were. */
  nativeParts(native: unknown): unknown[];
}

export type MakeTurn = (history: readonly Message[]) => AssistantMessage;

export type Said =
  | { user: string }
  | { text: string; calls: SaidCall[] }
  /** In the order of the calls. */
  | { results: SaidResult[] };

export interface SaidCall {
  name: string;
  args: unknown;
}

export interface SaidResult {
  content: unknown;
  /** Not every provider is told. */
  isError?: boolean;
}

/** What a conversation says, up to the ids of its calls. */
export function said({ messages, transient }: Conversation): Said[] {
  const all: Said[] = [];
  for (const [index, message] of messages.entries()) {
    if (message.role === 'user') all.push({ user: message.content });
    if (message.role !== 'assistant') continue;
    const calls = message.toolCalls.map(({ name, arguments: args }) => ({ name: toName(name), args }));
    all.push({ text: message.content.trim() === '' ? '' : message.content, calls });
    if (calls.length > 0)
      all.push({ results: message.toolCalls.map(({ id }) => resultOf(messages, index, id)) });
  }
  if (transient !== undefined) all.push({ user: transient });
  return joinTurns(all);
}

function resultOf(messages: readonly Message[], turn: number, id: string): SaidResult {
  const answer = messages.find(
    (message, index) => index > turn && message.role === 'tool' && message.toolCallId === id,
  );
  if (answer?.role !== 'tool') throw new Error(`no answer to ${id}`);
  return { content: JSON.parse(answer.content), isError: answer.isError };
}

/** Pieces of one turn are one turn. */
export function joinTurns(all: Said[]): Said[] {
  const joined: Said[] = [];
  for (const one of all) {
    const last = joined.at(-1);
    if ('text' in one && last && 'text' in last)
      joined[joined.length - 1] = { text: last.text + one.text, calls: [...last.calls, ...one.calls] };
    else joined.push(one);
  }
  return joined;
}

/** Not all providers can spell every name. */
export function toName(name: string): string {
  return name.replace(/[^a-zA-Z0-9_-]/g, '_');
}
