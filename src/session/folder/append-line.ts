import { open } from 'node:fs/promises';

/** Adds a line to the file. Half a line that a stopped process left does not spoil the new one. */
export async function appendLine(path: string, line: string): Promise<void> {
  const handle = await open(path, 'a+', 0o600);
  try {
    const { size } = await handle.stat();
    const last = Buffer.alloc(1);
    if (size > 0) await handle.read(last, 0, 1, size - 1);
    const isWhole = size === 0 || last.toString() === '\n';
    await handle.appendFile(`${isWhole ? '' : '\n'}${line}\n`);
  } finally {
    await handle.close();
  }
}
