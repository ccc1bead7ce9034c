// What the data sources have answered in this session, as far as it can still be believed: inline answers that are in
// the conversation, and files whose content is still what was written into them. Never what a command printed.
import { Readable } from 'node:stream';
import { answerFilesOf, toGroups } from '../agent/groups.ts';
import type { AnswerFile, Message, ToolMessage } from '../agent/messages.ts';

export interface Document {
  /** Whose log it is: a job's, that of a job nobody named, or no log of a job at all. */
  job: number | 'unnamed' | null;
  kind: AnswerFile['kind'];
  bytes: number;
  /** What it was asked for, in the words of the model: where an answer repeats them, they are still the model's. */
  asked: readonly string[];
  /** For words about it. */
  name: string;
  open(): AsyncIterable<Buffer>;
  /** Of what it has to be to be believed; null for what nobody could have changed. */
  sha256: string | null;
}

/** What people have written about the change: no job has said it, whatever it looks like. */
const PROSE = new Set(['gitlab_get_mr_details', 'gitlab_list_commits', 'gitlab_list_discussions']);

export type StreamFile = (path: string) => AsyncIterable<Buffer>;

export function findDocuments(messages: readonly Message[], streamFile: StreamFile): Document[] {
  const fetched = answerFilesOf(messages).filter(({ tool }) => !PROSE.has(tool));
  const files = new Map(fetched.map((file) => [file.path, file]));
  const inline = toGroups(messages).flatMap(([first, ...answers]) => {
    // Turn by turn: not every server gives each call of a conversation an id of its own.
    const calls = first?.role === 'assistant' ? first.toolCalls : [];
    return answers.flatMap((message) =>
      message.role === 'tool' && message.isSourced && !message.isError && !PROSE.has(message.name)
        ? toInline(message, calls.find(({ id }) => id === message.toolCallId)?.arguments ?? {})
        : [],
    );
  });
  return [...inline, ...[...files.values()].map((file) => toFile(file, streamFile))];
}

function toInline(message: ToolMessage, args: Record<string, unknown>): Document[] {
  const text = readAnswer(message.content);
  if (text === null) return [];
  const content = Buffer.from(text.text);
  const job = jobOf(message.name, args);
  const kind = text.isJson ? 'json' : job === null ? 'text' : 'log';
  const open = () => Readable.from([content]);
  return [{ job, kind, bytes: content.length, name: message.name, asked: textsOf(args), open, sha256: null }];
}

/** Only the answer itself; where all of it is in a file, the file counts. */
function readAnswer(json: string): { text: string; isJson: boolean } | null {
  const { result, preview, saved_to } = parseObject(json);
  if (saved_to !== undefined) return null;
  const answer = result ?? preview;
  if (answer === undefined) return null;
  return typeof answer === 'string'
    ? { text: answer, isJson: false }
    : { text: JSON.stringify(answer, null, 2), isJson: true };
}

function parseObject(json: string): Record<string, unknown> {
  try {
    return { ...JSON.parse(json) };
  } catch {
    return {};
  }
}

function toFile({ path, sha256, bytes, tool, args, kind }: AnswerFile, streamFile: StreamFile): Document {
  const job = kind === 'log' ? jobOf(tool, args) : null;
  return { job, kind, bytes, name: path, asked: textsOf(args), open: () => streamFile(path), sha256 };
}

function textsOf(value: unknown): string[] {
  if (typeof value === 'string') return [value];
  return typeof value === 'object' && value !== null ? Object.values(value).flatMap(textsOf) : [];
}

function jobOf(tool: string, { job_id, log }: Record<string, unknown>): Document['job'] {
  if (tool === 'gitlab_get_job_log' && typeof job_id === 'number') return job_id;
  return tool === 'gitlab_get_last_passing_job' && log === true ? 'unnamed' : null;
}
