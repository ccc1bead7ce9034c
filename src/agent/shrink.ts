import { cutMiddle } from './cut-text.ts';
import { findUncounted, messagesBytes, mostTokens } from './estimate.ts';
import { type Group, takeTail, toGroups, withoutSizes } from './groups.ts';
import type { Message } from './messages.ts';
import type { ModelRequest } from './model.ts';

const MAX_RESULT_CHARS = 1_000;

/** What surely fits and is as much as possible: if the results that came last are too long, only they are cut. */
export function fitInto(maxTokens: number, request: ModelRequest, model: string): ModelRequest {
  if (mostTokens(request, model) <= maxTokens) return request;
  const uncounted = new Set(findUncounted(request.messages, model));
  const messages = request.messages.map((message) => (uncounted.has(message) ? cutResult(message) : message));
  const shorter = { ...request, messages };
  return mostTokens(shorter, model) <= maxTokens ? shorter : shrinkToFit(request, maxTokens);
}

/** What surely fits, whoever counts: results are cut, the oldest first, then turns in the middle go. Nothing is saved of it. */
export function shrinkToFit(request: ModelRequest, maxTokens: number): ModelRequest {
  const messages = withoutSizes(request.messages);
  let excess = mostTokens({ ...request, messages }, '') - maxTokens;
  const cut = messages.map((message) => {
    if (excess <= 0) return message;
    const shorter = cutResult(message);
    excess -= messagesBytes([message]) - messagesBytes([shorter]);
    return shorter;
  });
  return { ...request, messages: excess <= 0 ? cut : keepEnds({ ...request, messages: cut }, maxTokens) };
}

/** The beginning, what was asked last, and as much of the end as there is room for. */
function keepEnds(request: ModelRequest, maxTokens: number): Message[] {
  const [head = [], ...rest] = toGroups(request.messages);
  const asked = rest.findLast(([first]) => first?.role === 'user') ?? [];
  const room = maxTokens - mostTokens({ ...request, messages: [] }, '');
  const ends = cutTexts([...head, ...asked], room);
  const tail = takeTail(rest, { maxBytes: room - messagesBytes(ends), sizeOf: messagesBytes });
  if (tail.includes(asked)) return [...cutTexts(head, room), ...tail.flat()];
  return [...ends, ...tail.flat()];
}

/** Even the questions may be too long. */
function cutTexts(messages: Group, maxBytes: number): Message[] {
  const perMessage = Math.max(MAX_RESULT_CHARS, maxBytes / Math.max(1, messages.length));
  return messages.map((message) =>
    messagesBytes([message]) <= perMessage
      ? message
      : // A character has up to three bytes.
        { ...message, content: cutMiddle(message.content, perMessage / 3) },
  );
}

function cutResult(message: Message): Message {
  if (message.role !== 'tool' || message.content.length <= MAX_RESULT_CHARS) return message;
  return { ...message, content: JSON.stringify({ cut: cutMiddle(message.content, MAX_RESULT_CHARS) }) };
}
