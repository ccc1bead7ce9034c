import type { AnswerFile, Message } from './messages.ts';

/** Messages that belong together: a call is never parted from its results. */
export type Group = Message[];

export function toGroups(messages: readonly Message[]): Group[] {
  const groups: Group[] = [];
  for (const message of messages) {
    if (message.role === 'tool') groups.at(-1)?.push(message);
    else groups.push([message]);
  }
  return groups;
}

/** Turns in which tools were called; the rest is what people asked and were answered. */
export function hasCalls([first]: Group): boolean {
  return first?.role === 'assistant' && first.toolCalls.length > 0;
}

/** The files with what data sources have said in these turns. */
export function answerFilesOf(messages: readonly Message[]): AnswerFile[] {
  return messages.flatMap((message) => (message.role === 'assistant' ? [] : (message.files ?? [])));
}

/** The last groups that have at most so many bytes together. */
export function takeTail(
  groups: readonly Group[],
  { maxBytes, sizeOf }: { maxBytes: number; sizeOf: (group: Group) => number },
): Group[] {
  let bytes = 0;
  const cut = groups.findLastIndex((group) => {
    bytes += sizeOf(group);
    return bytes > maxBytes;
  });
  return groups.slice(cut + 1);
}

/** What a model has counted holds only as long as nothing before it is changed. */
export function withoutSizes(messages: readonly Message[]): Message[] {
  return messages.map((message) => {
    if (message.role !== 'assistant' || message.size === undefined) return message;
    const { size: _, ...rest } = message;
    return rest;
  });
}
