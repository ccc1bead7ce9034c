// hummingbird evidence: prints of log files what the model would see of them.
import { PermanentError } from '../errors.ts';
import { type Evidence, toEvidence, toReference } from './evidence.ts';
import { readFile } from './read-file.ts';

export interface EvidenceCommand {
  files: string[];
  maxBytes: number;
  reference?: string | undefined;
  json?: boolean | undefined;
  explain?: boolean | undefined;
}

/** Answers whether all of them could be read; one that can not does not keep the others from being shown. */
export async function showEvidence(
  { files, maxBytes, reference: passing, json = false, explain = false }: EvidenceCommand,
  { print, complain }: { print: (text: string) => void; complain: (text: string) => void },
): Promise<boolean> {
  const reference = passing === undefined ? null : await openReference(passing);
  let isDone = true;
  for (const file of files) {
    try {
      const evidence = toEvidence(await readFile(file), { maxBytes, reference });
      if (json) print(JSON.stringify(toObject(file, evidence, explain)));
      else print([...(files.length > 1 ? [`==> ${file} <==`] : []), ...toText(evidence, explain)].join('\n'));
    } catch (error) {
      isDone = false;
      complain(`${file}: ${toWords(error)}`);
    }
  }
  return isDone;
}

async function openReference(file: string): Promise<ReturnType<typeof toReference>> {
  try {
    return toReference(await readFile(file));
  } catch (cause) {
    throw new PermanentError(`the reference ${file} can not be read: ${toWords(cause)}`, { cause });
  }
}

const HINTS: Record<string, string> = {
  ENOENT: 'there is no such file; name a log, or - for the standard input',
  EISDIR: 'it is a folder; name the logs in it',
  EACCES: 'it can not be read; give this user the right to',
};

function toWords(error: unknown): string {
  const { code = '' } = error as NodeJS.ErrnoException;
  return HINTS[code] ?? (error instanceof Error ? error.message : String(error));
}

function toObject(file: string, { text, ranges, explain }: Evidence, withReasons: boolean) {
  const bytes = Buffer.byteLength(text);
  return { file, bytes, text, ranges, ...(withReasons && { lines: explain() }) };
}

function toText({ text, explain }: Evidence, withReasons: boolean): string[] {
  if (!withReasons) return [text];
  const rows = explain().map(({ number, score, reasons }) => {
    const why = reasons.map(({ name, score }) => `${name} ${score > 0 ? '+' : ''}${score.toFixed(2)}`);
    return `${number}  ${score.toFixed(2)}  ${why.join(', ')}`;
  });
  return [text, '', 'line  score  reasons', ...rows];
}
