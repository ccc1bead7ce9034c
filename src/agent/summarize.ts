import { cutEnd, cutMiddle } from './cut-text.ts';
import { messagesBytes } from './estimate.ts';
import type { Group } from './groups.ts';
import type { RunView } from './hooks.ts';
import type { AnswerFile, Message, UserMessage } from './messages.ts';
import type { Model } from './model.ts';
import { SUMMARY_HEADINGS, SUMMARY_SYSTEM_PROMPT } from './prompts.ts';
import { filesOf } from './prune.ts';
import { askSide } from './side-call.ts';

/** Thinking counts, too. */
const MAX_SUMMARY_TOKENS = 16_000;
const MAX_SUMMARY_WAIT_MS = 300_000;
/** Shorter than what it replaces, a summary could still be most of what there is room for. */
const MAX_SHARE = 2 / 3;
const MAX_RESULT_CHARS = 1_500;
const MAX_LIST_CHARS = 4_000;
/** What stands around the texts of a question, in it and on the wire. */
const MARKUP_BYTES = 300;

export interface SummaryOptions {
  side: Model;
  /** An earlier summary is brought up to date, not written anew. */
  previous: string | null;
  /** Of all that is asked: what is too long is cut. The answer has to leave room for more than itself. */
  maxBytes: number;
}

/** What these turns have brought, in a fixed form; null when a summary would be no gain. Throws what the model throws. */
export async function summarize(
  groups: readonly Group[],
  { side, previous, maxBytes }: SummaryOptions,
  run: RunView,
): Promise<string | null> {
  const room = Math.max(0, maxBytes - Buffer.byteLength(SUMMARY_SYSTEM_PROMPT) - MARKUP_BYTES);
  const earlier = previous === null ? null : cutToBytes(previous, room / 2);
  const parts = [
    ...(earlier === null ? [] : ['<earlier-summary>', earlier, '</earlier-summary>']),
    '<turns>',
    cutToBytes(toNotes(groups.flat()), room - Buffer.byteLength(earlier ?? '')),
    '</turns>',
  ];
  const summary = await askSide(side, 'summary', run, {
    system: SUMMARY_SYSTEM_PROMPT,
    prompt: parts.join('\n'),
    maxOutputTokens: MAX_SUMMARY_TOKENS,
    maxWaitMs: MAX_SUMMARY_WAIT_MS,
  });
  const isWhole = SUMMARY_HEADINGS.every((heading) => summary.includes(heading));
  const replaced = messagesBytes(groups.flat()) + Buffer.byteLength(previous ?? '');
  const isShort = Buffer.byteLength(summary) < Math.min(replaced, MAX_SHARE * maxBytes);
  return isWhole && isShort ? summary : null;
}

/** All that was said and done, results only as far as they are not long. */
export function toNotes(messages: readonly Message[]): string {
  return messages.map(toText).join('\n');
}

/** What was done, without a model: the calls and where their results are. */
export function listTurns(groups: readonly Group[], previous: string | null): string {
  const calls = groups.flat().flatMap((message) => {
    if (message.role === 'assistant' && message.content) return [`- said: ${cutEnd(message.content, 300)}`];
    if (message.role !== 'tool') return [];
    const files = filesOf(message).join(', ');
    return [`- ${message.name}${files === '' ? '' : `, its result is in ${files}`}`];
  });
  return [previous ?? '', 'Turns that were cut:', cutMiddle(calls.join('\n'), MAX_LIST_CHARS)]
    .join('\n')
    .trim();
}

export function toSummaryMessage(
  summary: string,
  notesFiles: readonly string[],
  files: readonly AnswerFile[],
): UserMessage {
  const where = notesFiles.length === 0 ? '' : ` Notes on all of them are in ${notesFiles.join(', ')}.`;
  return {
    role: 'user',
    content: `[Earlier turns were cut to save room.${where} What follows sums them up.]\n\n${summary}`,
    isSummary: true,
    ...(files.length > 0 && { files: [...files] }),
  };
}

function toText(message: Message): string {
  if (message.role === 'user') return `asked: ${message.content}`;
  if (message.role === 'tool')
    return `result of ${message.name}: ${cutEnd(message.content, MAX_RESULT_CHARS)}`;
  const calls = message.toolCalls.map((call) => `called ${call.name} ${JSON.stringify(call.arguments)}`);
  return [...(message.content ? [`said: ${message.content}`] : []), ...calls].join('\n');
}

/** A character has up to three bytes. */
function cutToBytes(text: string, maxBytes: number): string {
  return Buffer.byteLength(text) <= maxBytes ? text : cutMiddle(text, maxBytes / 3);
}
