// What the faults came to, of all files in one table at the end.
import { appendFileSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Outcome } from './killing.ts';

const FOLDER = 'HUMMINGBIRD_FAULT_OUTCOMES';

const HEAD = ['fault', 'before the note', 'events', 'lost', 'doubled', 'turns repeated', 'recovered in s'];

/** Vitest calls it before the first test, and what it gives back after the last one. */
export default function setup(): () => void {
  const folder = mkdtempSync(join(tmpdir(), 'hummingbird-outcomes-'));
  process.env[FOLDER] = folder;
  appendFileSync(join(folder, 'rows'), '');
  return () => {
    const lines = readFileSync(join(folder, 'rows'), 'utf8').split('\n').filter(Boolean);
    process.stdout.write(toTable(lines.map((line) => JSON.parse(line))));
    rmSync(folder, { recursive: true });
  };
}

export function keepOutcome(outcome: Outcome): void {
  appendFileSync(join(process.env[FOLDER] ?? tmpdir(), 'rows'), `${JSON.stringify(outcome)}\n`);
}

function toTable(outcomes: readonly Outcome[]): string {
  const rows = [
    HEAD,
    ...outcomes.map((one) => [
      one.fault,
      one.isInTime ? 'yes' : 'no',
      ...[one.events, one.lost, one.doubled, one.turnsRepeated].map(String),
      (one.recoveredMs / 1_000).toFixed(1),
    ]),
  ];
  const widths = HEAD.map((_, column) => Math.max(...rows.map((row) => row[column]?.length ?? 0)));
  const lines = rows.map((row) =>
    row
      .map((cell, at) => (at === 0 ? cell.padEnd(widths[at] ?? 0) : cell.padStart(widths[at] ?? 0)))
      .join('  '),
  );
  return `${lines.join('\n')}\n`;
}
