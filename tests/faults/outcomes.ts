import type { Outcome } from './killing.ts';

const HEAD = ['fault', 'before the note', 'events', 'lost', 'doubled', 'turns repeated', 'recovered in s'];

/** One table, for people. */
export function printOutcomes(title: string, outcomes: readonly Outcome[]): void {
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
  process.stdout.write(`${title}\n${lines.join('\n')}\n`);
}
