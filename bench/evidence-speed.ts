// The command on large logs, beside grep and cat on the same file.
import { spawn } from 'node:child_process';
import { closeSync, mkdtempSync, openSync, readFileSync, rmSync, writeSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { readLabelledLogs } from '../tests/fixtures/labelled-logs.ts';

const MB = 1024 * 1024;
const SIZES_MB = [10, 100, 500];
const RUNS = 3;
const HUMMINGBIRD = join(import.meta.dirname, '../bin/hummingbird');

/** Logs made of those in the folders, again and again, with other numbers in them. */
export async function measureSpeed(folders: readonly string[]): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'hummingbird-bench-'));
  try {
    const file = join(folder, 'large.log');
    console.log(
      `\nthe quickest of ${RUNS} runs${''.padEnd(12)}evidence      grep       cat   of grep   memory`,
    );
    for (const size of SIZES_MB) {
      write(file, size * MB, folders);
      const evidence = await quickest([HUMMINGBIRD, 'evidence', file]);
      const grep = await quickest(['grep', '-cE', 'error|fail', file]);
      const cat = await quickest(['cat', file]);
      const cells = [evidence, grep, cat]
        .map(({ ms }) => `${(ms / 1000).toFixed(2)} s`.padStart(10))
        .join('');
      const ratio = `${(grep.ms / evidence.ms).toFixed(2)}x`.padStart(10);
      console.log(`${size} MB`.padEnd(28), cells, ratio, `${evidence.peakMb} MB`.padStart(8));
    }
  } finally {
    rmSync(folder, { recursive: true });
  }
}

function write(file: string, maxBytes: number, folders: readonly string[]): void {
  const logs = folders.flatMap(readLabelledLogs).map(({ bytes }) => bytes);
  const target = openSync(file, 'w');
  for (let written = 0, round = 0; written < maxBytes; round += 1) {
    const log = logs[round % logs.length] ?? Buffer.alloc(0);
    written += writeSync(
      target,
      log.toString('latin1').replaceAll(/\d\d/g, `${10 + (round % 90)}`),
      null,
      'latin1',
    );
  }
  closeSync(target);
}

async function quickest(command: string[]) {
  const runs: { ms: number; peakMb: string }[] = [];
  for (let run = 0; run < RUNS; run += 1) runs.push(await time(command));
  return runs.reduce((a, b) => (b.ms < a.ms ? b : a));
}

async function time([program = '', ...args]: string[]) {
  const start = performance.now();
  const child = spawn(program, args, { stdio: ['ignore', 'pipe', 'inherit'] });
  child.stdout.resume();
  let peakMb = '?';
  const watching = setInterval(() => {
    peakMb = peakOf(child.pid) ?? peakMb;
  }, 10);
  await new Promise((resolve) => child.once('close', resolve));
  clearInterval(watching);
  return { ms: performance.now() - start, peakMb };
}

/** As Linux counts it; elsewhere nobody knows. */
function peakOf(pid: number | undefined): string | undefined {
  try {
    const [, kb] = /VmHWM:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8')) ?? [];
    return kb === undefined ? undefined : `${Math.round(Number(kb) / 1024)}`;
  } catch {
    return undefined;
  }
}
