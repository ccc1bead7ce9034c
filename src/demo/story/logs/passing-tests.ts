import { dim, green, yellow } from './colours.ts';
import type { LogWriter } from './log-writer.ts';
import { warnOfDeprecation } from './npm-noise.ts';

/** Lines of tests that pass, with what the code under test says meanwhile. */
export function writePassingTests(log: LogWriter, folder: string, count: number): void {
  for (let written = 0; written < count; written++) {
    const area = log.random.pick(AREAS);
    const file = `${folder}/${area}/${log.random.pick(SUBJECTS)}.test.ts`;
    const name = `${log.random.pick(VERBS)} ${log.random.pick(OBJECTS)} ${log.random.pick(CONDITIONS)}`;
    log.line(toPassed([file, area, name], log.random.int(1, 48)));
    log.pass(log.random.int(4, 40));
    if (written % 90 === 20) sayOnStderr(log, file, name);
    if (written % 240 === 120) warnOfDeprecation(log);
  }
}

function toPassed(path: readonly string[], ms: number): string {
  return ` ${green('✓')} ${path.join(dim(' > '))}${yellow(` ${ms}${dim('ms')}`)}`;
}

/** Tests of error handling print errors; none of them is one. */
function sayOnStderr(log: LogWriter, file: string, name: string): void {
  log.line(dim(`stderr | ${file} > ${name}`));
  log.line(log.random.pick(SIMULATED));
  log.line();
}

const AREAS = [
  'basket',
  'gateway',
  'invoices',
  'pricing',
  'shipping',
  'vouchers',
  'ledger',
  'customers',
] as const;

const SUBJECTS = [
  'create',
  'merge',
  'expire',
  'retry',
  'lookup',
  'format',
  'limits',
  'history',
  'audit',
] as const;

const VERBS = [
  'keeps',
  'rejects',
  'returns',
  'stores',
  'logs an error for',
  'forwards',
  'recovers from',
] as const;

const OBJECTS = [
  'an empty basket',
  'a voucher of another shop',
  'a gateway error',
  'an address without a postcode',
  'two payments of one order',
  'a failed refund',
  'a customer who left',
  'the default currency',
] as const;

const CONDITIONS = [
  'after a restart',
  'when the error is not fatal',
  'for guests',
  'without a session',
  'in another currency',
  'on the last day of a month',
  'once',
] as const;

const SIMULATED = [
  'gateway: Error: socket hang up (simulated), trying again in 5 ms',
  'voucher: error code V-17 is expected here',
  'ledger: 0 errors, 0 warnings',
] as const;
