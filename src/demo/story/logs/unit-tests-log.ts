import { bold, cyan, dim, green, red, redBadge, yellow } from './colours.ts';
import type { JobLog, LogWriter } from './log-writer.ts';
import { installPackages } from './npm-noise.ts';
import { writePassingTests } from './passing-tests.ts';
import { type FrameOptions, writeJobLog } from './runner-frame.ts';

export type UnitTestsKey = 'failedTest' | 'assertion' | 'expected' | 'received' | 'location' | 'outcome';

type Frame = Pick<FrameOptions, 'startedAt' | 'sha'>;

export function writeFailedUnitTests(frame: Frame): JobLog<UnitTestsKey> {
  return writeJobLog({ ...toOptions(frame), outcome: 'failed' }, (log) => {
    installPackages(log);
    startTests(log);
    writePassingTests(log, 'tests/unit', 1_600);
    const failedTest = log.line(` ${red('×')} ${TEST.join(dim(' > '))}${yellow(` 9${dim('ms')}`)}`);
    log.line(red(`   → ${MESSAGE}`));
    writePassingTests(log, 'tests/unit', 900);
    const lines = explainFailure(log);
    sumUp(log, `${red(bold('1 failed'))} ${dim('|')} `, [71, 2_500]);
    writeCoverage(log);
    return { failedTest, ...lines };
  });
}

export function writePassedUnitTests(frame: Frame): JobLog<'outcome'> {
  return writeJobLog({ ...toOptions(frame), outcome: 'passed' }, (log) => {
    installPackages(log);
    startTests(log);
    writePassingTests(log, 'tests/unit', 2_501);
    sumUp(log, '', [72, 2_501]);
    writeCoverage(log);
    return {};
  });
}

const FILE = 'tests/unit/pricing/cart-total.test.ts';
const TEST = [FILE, 'cart total', 'rounds half a cent of tax up'];
const MESSAGE = 'expected 1512 to be 1513 // Object.is equality';

function toOptions(frame: Frame) {
  const script = 'npm ci && npx vitest run --project unit --coverage --reporter verbose';
  return { ...frame, seed: 101, image: 'node:24-bookworm', script, artifacts: ['coverage/', 'junit.xml'] };
}

function startTests(log: LogWriter): void {
  log.line();
  log.line(`${bold(cyan(' RUN '))} ${cyan('v4.0.3')} ${dim('/builds/payments/checkout-service')}`);
  log.line(dim('      Coverage enabled with v8'));
  log.line();
}

function explainFailure(log: LogWriter) {
  log.line();
  log.line(red(`${'⎯'.repeat(7)} Failed Tests 1 ${'⎯'.repeat(7)}`));
  log.line();
  log.line(`${redBadge(bold(' FAIL '))} ${TEST.join(dim(' > '))}`);
  const assertion = log.line(red(`${bold('AssertionError')}: ${MESSAGE}`));
  log.line();
  log.line(green('- Expected'));
  log.line(red('+ Received'));
  log.line();
  const expected = log.line(green('- 1513'));
  const received = log.line(red('+ 1512'));
  log.line();
  const location = log.line(cyan(` ${dim('❯')} ${FILE}:${dim('48:31')}`));
  for (const source of CODE_FRAME) log.line(source);
  log.line();
  log.line(red(dim(`${'⎯'.repeat(24)}[1/1]⎯`)));
  log.line();
  return { assertion, expected, received, location };
}

const CODE_FRAME = [
  '     46|     // 12.50 and 21 % of tax: 2.625, and the tax office wants the half cent.',
  "     47|     const cart = cartOf({ sku: 'MUG-01', cents: 1250 });",
  '     48|     expect(cartTotal(cart)).toBe(1513);',
  '       |                             ^',
  '     49|   });',
];

function sumUp(log: LogWriter, failed: string, [files, tests]: readonly [number, number]): void {
  log.line(`${dim(' Test Files ')} ${failed}${bold(green(`${files} passed`))}${dim(' (72)')}`);
  log.line(`${dim('      Tests ')} ${failed}${bold(green(`${tests} passed`))}${dim(' (2501)')}`);
  log.line(`${dim('   Duration ')} 48.12s`);
  log.line();
}

function writeCoverage(log: LogWriter): void {
  log.line(`${dim(' % ')}Coverage report from ${yellow('v8')}`);
  log.line('File                                    | % Stmts | % Branch | % Funcs | % Lines | Uncovered');
  for (let file = 0; file < 700; file++) {
    const name = ` src/${log.random.pick(['basket', 'gateway', 'ledger', 'errors'])}/part-${file}.ts`;
    const share = () => log.random.int(78, 100).toString().padStart(7);
    log.line(
      green(
        `${name.padEnd(39)} | ${share()} |  ${share()} | ${share()} | ${share()} | ${log.random.int(3, 90)}`,
      ),
    );
  }
}
