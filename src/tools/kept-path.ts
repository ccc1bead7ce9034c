import { posix } from 'node:path';
import { ToolError } from './tool-error.ts';

export const DATA_FOLDER = '/tmp/data';
export const OUT_FOLDER = '/tmp/_out';

/** Where the model wants a file; only the folders that are kept with the session are fine. */
export function toKeptPath(wanted: string): string {
  const path = posix.resolve(DATA_FOLDER, wanted);
  const isKept = [DATA_FOLDER, OUT_FOLDER].some((folder) => path.startsWith(`${folder}/`));
  if (isKept && !path.includes('\0')) return path;
  throw new ToolError(`path ${JSON.stringify(wanted)} must be a file below ${DATA_FOLDER} or ${OUT_FOLDER}`, {
    right_path: `${DATA_FOLDER}/job.log`,
  });
}
