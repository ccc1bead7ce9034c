import { cyan, dim, green, red, yellow } from './colours.ts';
import type { JobLog, LogWriter } from './log-writer.ts';
import { installPackages, warnOfDeprecation } from './npm-noise.ts';
import { type FrameOptions, progress, writeJobLog } from './runner-frame.ts';
import { writeRequests } from './service-output.ts';

export type E2eSmokeKey = 'stall' | 'timeout' | 'connection' | 'location' | 'outcome';

type Frame = Pick<FrameOptions, 'startedAt' | 'sha'>;

/** The first try: the payment stub pauses for longer than the browser waits. Nothing of it is about prices. */
export function writeTimedOutE2eSmoke(frame: Frame): JobLog<E2eSmokeKey> {
  return writeJobLog({ ...toOptions(frame), outcome: 'failed' }, (log) => {
    startBrowser(log);
    writeRequests(log, 700);
    const stall = log.line(
      `payments-stub-1  | ${log.time()} WARN  paused for 41 s to collect garbage, no connection accepted`,
    );
    log.pass(30_000);
    const lines = explainTimeout(log);
    writeRequests(log, 900);
    log.line(`${red('  1 failed')}`);
    log.line(dim(`    [chromium] › ${FILE}:31:3 › smoke › a guest pays for one mug`));
    log.line(green('  11 passed') + dim(' (1.6m)'));
    return { stall, ...lines };
  });
}

export function writePassedE2eSmoke(frame: Frame): JobLog<'outcome'> {
  return writeJobLog({ ...toOptions(frame), seed: 304, outcome: 'passed' }, (log) => {
    startBrowser(log);
    writeRequests(log, 260);
    playScenarios(log, 12);
    log.line(green('  12 passed') + dim(' (48.3s)'));
    return {};
  });
}

const FILE = 'tests/e2e/smoke.spec.ts';

function toOptions(frame: Frame) {
  const image = 'mcr.microsoft.com/playwright:v1.56.1-noble';
  const script = 'npm ci && docker compose up --detach && npx playwright test --project chromium';
  return { ...frame, seed: 303, image, script, artifacts: ['playwright-report/', 'test-results/'] };
}

function startBrowser(log: LogWriter): void {
  installPackages(log);
  log.line(progress('Downloading Chromium 141.0', 174, ' MiB'));
  log.line('Chromium 141.0 downloaded to /ms-playwright/chromium-1194');
  warnOfDeprecation(log);
  log.line();
  log.line(`Running ${cyan('12')} tests using ${cyan('2')} workers`);
}

function explainTimeout(log: LogWriter) {
  playScenarios(log, 7);
  log.line(
    `  ${red('✘')}  8 [chromium] › ${FILE}:31:3 › smoke › a guest pays for one mug ${yellow('(30.0s)')}`,
  );
  playScenarios(log, 4, 9);
  log.line();
  log.line(red(`  1) [chromium] › ${FILE}:31:3 › smoke › a guest pays for one mug ${'─'.repeat(20)}`));
  log.line();
  const timeout = log.line(`    ${red('Test timeout of 30000ms exceeded.')}`);
  log.line();
  const connection = log.line(
    `    Error: page.goto: net::ERR_CONNECTION_TIMED_OUT at http://payments-stub:9090/pay`,
  );
  log.line('    Call log:');
  log.line(dim('      - navigating to "http://payments-stub:9090/pay", waiting until "load"'));
  log.line();
  log.line("      33 |     await page.getByRole('button', { name: 'Pay' }).click();");
  log.line("    > 34 |     await page.goto(stub('/pay'));");
  log.line('         |                ^');
  const location = log.line(`        at ${cyan(`/builds/payments/checkout-service/${FILE}`)}:34:16`);
  log.line();
  return { timeout, connection, location };
}

function playScenarios(log: LogWriter, count: number, first = 1): void {
  for (let number = first; number < first + count; number++) {
    const seconds = (log.random.int(8, 60) / 10).toFixed(1);
    log.line(
      `  ${green('✓')}  ${number} [chromium] › ${FILE}:${12 + number * 9}:3 › smoke › scenario ${number} ${dim(`(${seconds}s)`)}`,
    );
  }
}
