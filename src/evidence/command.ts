// hummingbird evidence: prints of log files what the model would see of them.
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
  const reference = passing === undefined ? null : toReference(await readFile(passing));
  let isDone = true;
  for (const file of files) {
    try {
      const evidence = toEvidence(await readFile(file), { maxBytes, reference });
      if (json) print(JSON.stringify(toObject(file, evidence, explain)));
      else print([...(files.length > 1 ? [`==> ${file} <==`] : []), ...toText(evidence, explain)].join('\n'));
    } catch (error) {
      isDone = false;
      complain(`${file}: ${error instanceof Error ? error.message : String(error)}`);
    }
  }
  return isDone;
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
