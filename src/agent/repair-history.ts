import { withoutSizes } from './groups.ts';
import { isEmpty, withChangedTurn } from './history.ts';
import type { Message, ToolCall, ToolMessage, UserMessage } from './messages.ts';

export interface RepairedHistory {
  messages: Message[];
  /** What was done and why, a sentence each; messages are counted from 0, as they were saved. */
  repairs: string[];
}

/**
 * Makes a conversation one that every provider takes; a valid one comes back as it is. What was said is kept. A call
 * without a result is answered instead of removed: a turn without its calls would pass for an answer.
 */
export function repairHistory(messages: Message[], opening: UserMessage): RepairedHistory {
  const repairs: string[] = [];
  const repaired: Message[] = [];
  const unanswered = new Map<string, ToolCall>();
  const answerAll = (): void => {
    for (const call of unanswered.values()) {
      repairs.push(`${call.name} (${call.id}) has no result: answered as interrupted`);
      repaired.push(toInterrupted(call));
    }
    unanswered.clear();
  };

  for (const [index, message] of messages.entries()) {
    if (isEmpty(message)) {
      repairs.push(`message ${index} (${message.role}) is empty: removed`);
      continue;
    }
    if (message.role === 'tool') {
      const isWaitedFor = unanswered.delete(message.toolCallId);
      if (isWaitedFor) repaired.push(message);
      else repairs.push(`message ${index} answers ${message.toolCallId}, which nobody waits for: removed`);
      continue;
    }
    answerAll();
    if (message.role === 'user') {
      repaired.push(message);
      continue;
    }
    if (repaired.length === 0) {
      repairs.push(`message ${index} (assistant) is the first one: put behind the event`);
      repaired.push(opening);
    }
    for (const call of message.toolCalls) if (!unanswered.has(call.id)) unanswered.set(call.id, call);
    const toolCalls = [...unanswered.values()];
    const isUnique = toolCalls.length === message.toolCalls.length;
    if (!isUnique) repairs.push(`message ${index} calls twice under one id: the first call is kept`);
    repaired.push(isUnique ? message : withChangedTurn(message, { toolCalls }));
  }
  answerAll();
  if (repaired.length === 0) {
    repairs.push('nothing was said: begun with the event');
    repaired.push(opening);
  }
  return repairs.length === 0 ? { messages, repairs } : { messages: withoutSizes(repaired), repairs };
}

function toInterrupted({ id, name }: ToolCall): ToolMessage {
  const error = `${name}: interrupted, and its result is lost. Call it again if you still need it.`;
  return { role: 'tool', toolCallId: id, name, content: JSON.stringify({ error }), isError: true };
}
