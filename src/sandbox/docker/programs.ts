// What is run inside a container beside the model's commands. It comes with the service and not with the image, so
// that the two always fit and any image with python3 will do.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';

/** Process 1; the seconds it may live follow. */
export const INIT = toCommand('supervisor.py', 'init');

/** One command of the model. */
export const RUN = toCommand('supervisor.py', 'run');

export type FileVerb = 'put' | 'get' | 'names' | 'measure' | 'pack';

export function toFileCommand(verb: FileVerb): string[] {
  return [...FILES, verb];
}

const FILES = toCommand('files.py');

function toCommand(file: string, ...verb: string[]): string[] {
  // Isolated: nothing that lies in /tmp is imported.
  const text = readFileSync(join(import.meta.dirname, file), 'utf8');
  return ['python3', '-I', '-S', '-c', text, ...verb];
}
