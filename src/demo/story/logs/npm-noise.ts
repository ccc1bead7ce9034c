// What npm and Node.js say on the way, whatever the outcome.
import { bold, dim, yellow } from './colours.ts';
import type { LogWriter } from './log-writer.ts';
import { progress } from './runner-frame.ts';

export function installPackages(log: LogWriter): void {
  log.line(
    `${bold('npm')} ${yellow('warn')} Unknown env config "always-auth". This will stop working in the next major version of npm.`,
  );
  for (const [name, reason] of DEPRECATED) {
    log.line(`${bold('npm')} ${yellow('warn')} ${dim('deprecated')} ${name}: ${reason}`);
    log.pass(90);
  }
  log.line(progress('reify:node_modules', 1_412));
  log.line();
  log.line('added 1411 packages, and audited 1412 packages in 21s');
  log.line();
  log.line('231 packages are looking for funding');
  log.line('  run `npm fund` for details');
  log.line();
  log.line('6 vulnerabilities (4 moderate, 2 high)');
  log.line('npm notice New minor version of npm available! 11.6.0 -> 11.7.0');
  log.pass(21_000);
}

/** A warning that has the word "error" in it and means no harm. */
export function warnOfDeprecation(log: LogWriter): void {
  const [first, second] = log.random.pick(WARNINGS);
  log.line(`(node:${log.random.int(100, 999)}) ${first}`);
  log.line(second);
}

const DEPRECATED = [
  ['inflight@1.0.6', 'This module is not supported, and leaks memory. Do not use it.'],
  ['rimraf@3.0.2', 'Rimraf versions prior to v4 are no longer supported'],
  ['glob@7.2.3', 'Glob versions prior to v9 are no longer supported'],
  ['request-error-formatter@2.1.0', 'error formatting is built in since v3, this package does nothing'],
  ['abab@2.0.6', "Use your platform's native atob() and btoa() methods instead"],
  ['domexception@4.0.0', "Use your platform's native DOMException instead; error names are unchanged"],
] as const;

const WARNINGS = [
  [
    '[DEP0169] DeprecationWarning: `url.parse()` behavior is not standardized and prone to errors',
    '(Use `node --trace-deprecation ...` to show where the warning was created)',
  ],
  [
    'ExperimentalWarning: importing JSON modules may change; a failed import will throw another error type',
    '(Use `node --trace-warnings ...` to show where the warning was created)',
  ],
  [
    '[DEP0190] DeprecationWarning: Passing args with shell true can lead to errors, as they are not escaped',
    '(Use `node --trace-deprecation ...` to show where the warning was created)',
  ],
] as const;
