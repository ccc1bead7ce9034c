// What is asked of a conversation in more than one place.
import type { AssistantMessage, Message, ToolMessage, UserMessage } from './messages.ts';

/** Nothing that a provider would take. */
export function isEmpty(message: Message): boolean {
  const hasCalls = message.role === 'assistant' && message.toolCalls.length > 0;
  return message.content.trim() === '' && !hasCalls;
}

export function isQuestion(message: Message): message is UserMessage {
  return message.role === 'user' && !message.isSummary;
}

/** The results that follow this message, up to the next word of anybody. */
export function answersAfter(messages: readonly Message[], index: number): ToolMessage[] {
  const answers: ToolMessage[] = [];
  for (let at = index + 1; ; at += 1) {
    const message = messages[at];
    if (message?.role !== 'tool') return answers;
    answers.push(message);
  }
}

/** The turn as it is from now on: what its provider wrote is true no longer; it is hardly larger than that was. */
export function withChangedTurn(
  turn: AssistantMessage,
  change: Partial<Pick<AssistantMessage, 'content' | 'toolCalls'>>,
): AssistantMessage {
  const { native: _, ...rest } = turn;
  return { ...rest, ...change };
}
