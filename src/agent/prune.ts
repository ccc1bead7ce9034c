import { createHash } from 'node:crypto';
import type { Group } from './groups.ts';
import type { AnswerFile, Message, ToolMessage } from './messages.ts';

/** Puts a text where the model can read it again; null when there is no room for it. */
export type KeepFile = (name: string, text: string) => Promise<string | null>;

export interface PruneOptions {
  keepFile: KeepFile;
  signal: AbortSignal;
}

const WORTH_PRUNING_BYTES = 600;
const SHOWN_CHARS = 160;

/** Old results give way to the name of the file that still holds them. One after the other: there may be many. */
export async function pruneResults(groups: readonly Group[], options: PruneOptions): Promise<Group[]> {
  const pruned: Group[] = [];
  for (const group of groups) pruned.push(await pruneUntil(group, () => false, options));
  return pruned;
}

/** The same, the oldest first, until it is enough. */
export async function pruneUntil(
  messages: Message[],
  isEnough: (messages: Message[]) => boolean,
  { keepFile, signal }: PruneOptions,
): Promise<Message[]> {
  let pruned = messages;
  for (const [index, message] of messages.entries()) {
    if (isEnough(pruned)) return pruned;
    signal.throwIfAborted();
    pruned = pruned.with(index, await pruneResult(message, messages, keepFile));
  }
  return pruned;
}

/** Of turns that are cut: the files with what data sources said in them, made for answers that were too short for one. */
export async function keepAnswers(
  groups: readonly Group[],
  { keepFile, signal }: PruneOptions,
): Promise<AnswerFile[]> {
  const files: AnswerFile[] = [];
  for (const group of groups) {
    for (const message of group) {
      signal.throwIfAborted();
      if (message.role === 'assistant') continue;
      files.push(...(message.files ?? []));
      if (message.role !== 'tool' || !message.isSourced || message.isError || isPruned(message)) continue;
      if (isInFiles(message)) continue;
      const path = await keepFile(`${message.name}.json`, message.content);
      files.push(...toAnswerFiles(message, group, [path]));
    }
  }
  return files;
}

async function pruneResult(
  message: Message,
  around: readonly Message[],
  keepFile: KeepFile,
): Promise<Message> {
  if (message.role !== 'tool' || message.content.length < WORTH_PRUNING_BYTES || isPruned(message))
    return message;
  const kept = isInFiles(message)
    ? filesOf(message)
    : [await keepFile(`${message.name}.json`, message.content)];
  // Without room for it, the conversation is the only place it has.
  if (kept.includes(null)) return message;
  const content = {
    pruned: 'This result was removed to save room.',
    saved_to: kept,
    began: message.content.slice(0, SHOWN_CHARS),
  };
  const files = [...(message.files ?? []), ...toAnswerFiles(message, around, kept)];
  return { ...message, content: JSON.stringify(content), ...(files.length > 0 && { files }) };
}

/** What a data source has said inline is in a file from now on. */
function toAnswerFiles(
  message: ToolMessage,
  around: readonly Message[],
  [path]: readonly (string | null)[],
): AnswerFile[] {
  if (!message.isSourced || isInFiles(message) || typeof path !== 'string') return [];
  const sha256 = createHash('sha256').update(message.content).digest('hex');
  const bytes = Buffer.byteLength(message.content);
  const calls = around.flatMap((one) => (one.role === 'assistant' ? one.toolCalls : []));
  const args = calls.findLast(({ id }) => id === message.toolCallId)?.arguments ?? {};
  return [{ path, sha256, bytes, tool: message.name, args, kind: 'json' }];
}

/** What says where it is saved is nothing but a preview of that file; of a batch each result has to say it. */
function isInFiles({ content }: ToolMessage): boolean {
  try {
    const result = JSON.parse(content);
    const parts: { saved_to?: unknown }[] = Array.isArray(result.results) ? result.results : [result];
    return parts.length > 0 && parts.every(({ saved_to }) => typeof saved_to === 'string');
  } catch {
    return false;
  }
}

function isPruned({ content }: ToolMessage): boolean {
  return content.startsWith('{"pruned":');
}

/** The files that a result says it is in. */
export function filesOf({ content }: ToolMessage): string[] {
  return [...content.matchAll(/"(?:saved_to|stdout_file|stderr_file)":\[?"(\/[^"\\]+)"/g)].map(
    ([, path = '']) => path,
  );
}
