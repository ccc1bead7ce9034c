// What a run costs with the breakpoints as they are placed, beside no caching and a perfect cache: `npm run bench:cost`.
import { costOf, idealCache, noCache, simulateCache } from './anthropic-cache.ts';
import { type LongRun, recordLongRun } from './long-run.ts';

const TURNS = [10, 20, 40, 80];
const COLUMNS = ['turns', 'as built', 'no caching', 'ideal', 'of no caching', 'of ideal', 'reads of ideal'];

console.log('Input of a run in thousands of tokens at the plain price; a write counts 1.25, a read 0.1.');
await printTable('The model answers by itself', (turns) => ({ turns, maxIterations: 2 * turns }));
await printTable(
  'All turns are used: warnings in the last fifth, and a last turn without tools, which can read nothing',
  (turns) => ({
    turns,
    maxIterations: turns,
  }),
);

async function printTable(title: string, toRun: (turns: number) => LongRun): Promise<void> {
  console.log(`\n${title}`);
  printRow(COLUMNS);
  for (const turns of TURNS) printRow(await measure(toRun(turns)));
}

async function measure(run: LongRun): Promise<string[]> {
  const requests = await recordLongRun(run);
  const [built, none, ideal] = [simulateCache(requests), noCache(requests), idealCache(requests)];
  const reads = (bills: typeof built): number => bills.reduce((sum, { readTokens }) => sum + readTokens, 0);
  return [
    String(run.turns),
    ...[built, none, ideal].map((bills) => (costOf(bills) / 1000).toFixed(1)),
    `${(costOf(built) / costOf(none)).toFixed(2)}x`,
    `${(costOf(built) / costOf(ideal)).toFixed(2)}x`,
    `${((100 * reads(built)) / reads(ideal)).toFixed(1)} %`,
  ];
}

function printRow(cells: string[]): void {
  console.log(cells.map((cell, index) => cell.padStart(index === 0 ? 5 : 16)).join(''));
}
