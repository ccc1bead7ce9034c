import { createHash } from 'node:crypto';
import type { AnswerFile } from '../agent/messages.ts';

/** Hears of each file that an answer of a data source was written to. */
export type OnAnswerFile = (file: AnswerFile) => void;

/** Whose answer it is, for the file it goes to. */
export type AnswerOrigin = Pick<AnswerFile, 'tool' | 'args' | 'kind'>;

export interface AnswerHash {
  add(chunk: Buffer): void;
  /** Once all of it is written. */
  toFile(path: string, origin: AnswerOrigin): AnswerFile;
}

/** Counts and hashes what flows into a file, so that nobody has to read it again. */
export function createAnswerHash(): AnswerHash {
  const hash = createHash('sha256');
  let bytes = 0;
  return {
    add(chunk) {
      hash.update(chunk);
      bytes += chunk.length;
    },
    toFile: (path, origin) => ({ path, sha256: hash.digest('hex'), bytes, ...origin }),
  };
}
