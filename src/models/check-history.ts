import { answersAfter, isEmpty } from '../agent/history.ts';
import type { AssistantMessage, Message } from '../agent/messages.ts';
import { ModelError, type ModelRequest } from '../agent/model.ts';

/** Providers answer a malformed history with riddles, so it is refused here, by name. Nothing is repaired. */
export function checkHistory({ messages, transient }: Pick<ModelRequest, 'messages' | 'transient'>): void {
  if (messages[0]?.role !== 'user') fail(0, messages.length === 0 ? 'is missing' : 'is not a user message');
  messages.forEach((message, index) => {
    if (isEmpty(message)) fail(index, `(${message.role}) is empty`);
    if (message.role === 'assistant' && !isAnsweredAtOnce(message, index, messages))
      checkAnswers(message, index, messages);
    if (message.role === 'tool') checkCalled(index, messages);
  });
  if (messages.at(-1)?.role === 'assistant' && transient === undefined)
    fail(messages.length - 1, 'is the last one and leaves the model nothing to answer');
}

/** As most turns are; there may be many of them, and each is looked at before each request. */
function isAnsweredAtOnce(
  { toolCalls }: AssistantMessage,
  index: number,
  messages: readonly Message[],
): boolean {
  const [first, second] = [messages[index + 1], messages[index + 2]];
  if (toolCalls.length === 0) return first?.role !== 'tool';
  const isAnswer = first?.role === 'tool' && first.toolCallId === toolCalls[0]?.id;
  return toolCalls.length === 1 && isAnswer && second?.role !== 'tool';
}

function checkAnswers({ toolCalls }: AssistantMessage, index: number, messages: readonly Message[]): void {
  const answered = answersAfter(messages, index).map(({ toolCallId }) => toolCallId);
  for (const { id, name } of toolCalls) {
    if (toolCalls.filter((call) => call.id === id).length > 1) fail(index, `calls twice under the id ${id}`);
    const count = answered.filter((answer) => answer === id).length;
    if (count === 0) fail(index, `calls ${name} (${id}), which is not answered right after`);
    if (count > 1) fail(index, `calls ${name} (${id}), which is answered ${count} times`);
  }
  const stray = answered.find((answer) => !toolCalls.some(({ id }) => id === answer));
  if (stray !== undefined) fail(index, `is followed by an answer to ${stray}, which it did not call`);
}

function checkCalled(index: number, messages: readonly Message[]): void {
  const before = messages[index - 1]?.role;
  if (before !== 'tool' && before !== 'assistant')
    fail(index, 'answers a call that was not made right before');
}

function fail(index: number, what: string): never {
  throw new ModelError('stop', `The history can not be sent: message ${index} ${what}.`, { unbilled: true });
}
