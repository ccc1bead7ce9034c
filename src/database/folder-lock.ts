import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { hostname } from 'node:os';
import { dirname } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { PermanentError } from '../errors.ts';

/**
 * Takes `folder` for this process alone, or throws naming the process that has it.
 * SQLite's file lock is the operating system's, so it ends with the process, however that ends.
 */
export function lockFolder(folder: string): () => void {
  const lockFile = `${folder}.lock`;
  const holderFile = `${folder}.lock.json`;
  mkdirSync(dirname(folder), { recursive: true });
  const lock = new DatabaseSync(lockFile);
  try {
    lock.exec('BEGIN EXCLUSIVE');
  } catch (cause) {
    lock.close();
    throw new PermanentError(
      `${folder} is in use by ${describeHolder(holderFile)}; the embedded database serves one process at a time. ` +
        'Stop that process, or use a postgres:// or redis:// queue to run several.',
      { cause },
    );
  }
  const holder = { pid: process.pid, host: hostname(), since: new Date().toISOString() };
  writeFileSync(holderFile, JSON.stringify(holder));
  return () => {
    rmSync(holderFile, { force: true });
    lock.close();
  };
}

function describeHolder(holderFile: string): string {
  try {
    const { pid, host, since } = JSON.parse(readFileSync(holderFile, 'utf8'));
    return `process ${pid} on ${host} since ${since}`;
  } catch {
    return 'another process';
  }
}
