import { withChangedTurn } from './history.ts';
import type { AssistantMessage } from './messages.ts';
import type { ModelTurn } from './model.ts';

/** What a response means for the loop. */
export type Reading =
  /** Text alone: the answer. */
  | { kind: 'answer'; message: AssistantMessage }
  | { kind: 'calls'; message: AssistantMessage }
  /** Text that the output limit cut off. */
  | { kind: 'cut-text'; text: string }
  /** The output limit cut off a call, or whatever was to come before any text. */
  | { kind: 'cut-call' }
  | { kind: 'empty' };

/** `draft` is the text of the answer so far, when the limit has cut it off before. */
export function readTurn({ message, stop }: ModelTurn, draft: string): Reading {
  const whole = draft === '' ? message : withChangedTurn(message, { content: draft + message.content });
  if (message.toolCalls.length > 0)
    return stop === 'length' ? { kind: 'cut-call' } : { kind: 'calls', message: whole };
  if (stop === 'length')
    return hasText(message.content) ? { kind: 'cut-text', text: whole.content } : { kind: 'cut-call' };
  return hasText(whole.content) ? { kind: 'answer', message: whole } : { kind: 'empty' };
}

/** White space says nothing, and providers refuse it. */
export function hasText(text: string): boolean {
  return text.trim() !== '';
}

/** What is not executed would be a call without a result. */
export function withCalls(
  message: AssistantMessage,
  toolCalls: AssistantMessage['toolCalls'],
): AssistantMessage {
  if (toolCalls.length === message.toolCalls.length) return message;
  return withChangedTurn(message, { toolCalls });
}
