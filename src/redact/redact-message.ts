import type { AssistantMessage, Message } from '../agent/messages.ts';
import type { Redactor } from './redactor.ts';

/** The same message when there was nothing to remove. */
export function redactMessage<T extends Message>(message: T, redactor: Redactor): T {
  if (message.role === 'assistant') return redactTurn(message, redactor) as T;
  const content =
    message.role === 'tool' ? redactJson(message.content, redactor) : redactor.text(message.content);
  return content === message.content ? message : { ...message, content };
}

/**
 * What a provider sent natively has signatures over it, which chance must not damage and which are worth nothing
 * once a word is changed. So it is judged by unmistakable secrets only and, if it holds one, given up as a whole: the
 * turn is then told in words.
 */
function redactTurn(turn: AssistantMessage, redactor: Redactor): AssistantMessage {
  const { native, ...said } = turn;
  const redacted = redactor.value({ ...said });
  const isSame = redacted.content === said.content && redacted.toolCalls === said.toolCalls;
  const isNativeClean = native === undefined || redactor.isClean(native.content);
  if (isSame && isNativeClean) return redacted.published === said.published ? turn : { ...turn, ...redacted };
  return redacted;
}

/** A result is an object, in which names tell of values. */
function redactJson(text: string, redactor: Redactor): string {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return redactor.text(text);
  }
  const redacted = redactor.value(value);
  return redacted === value ? text : JSON.stringify(redacted);
}
