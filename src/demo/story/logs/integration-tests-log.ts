import { bold, cyan, dim, green, red, redBadge, yellow } from './colours.ts';
import type { JobLog, LogWriter } from './log-writer.ts';
import { installPackages, warnOfDeprecation } from './npm-noise.ts';
import { writePassingTests } from './passing-tests.ts';
import { type FrameOptions, writeJobLog } from './runner-frame.ts';
import { writeRequests, writeServiceLine } from './service-output.ts';

export type IntegrationTestsKey = 'mismatch' | 'failedTest' | 'assertion' | 'location' | 'outcome';

type Frame = Pick<FrameOptions, 'startedAt' | 'sha'>;

export function writeFailedIntegrationTests(frame: Frame): JobLog<IntegrationTestsKey> {
  return writeJobLog({ ...toOptions(frame), outcome: 'failed' }, (log) => {
    startServices(log);
    playTests(log, 9);
    const mismatch = writeServiceLine(log, { level: 50, ...MISMATCH });
    writeServiceLine(log, { level: 30, ...REFUSAL });
    const failedTest = log.line(` ${red('×')} ${TEST.join(dim(' > '))}${yellow(` 212${dim('ms')}`)}`);
    log.line(red(`   → ${MESSAGE}`));
    playTests(log, 5);
    const lines = explainFailure(log);
    stopServices(log);
    return { mismatch, failedTest, ...lines };
  });
}

export function writePassedIntegrationTests(frame: Frame): JobLog<'outcome'> {
  return writeJobLog({ ...toOptions(frame), outcome: 'passed' }, (log) => {
    startServices(log);
    playTests(log, 14);
    stopServices(log);
    return {};
  });
}

const FILE = 'tests/integration/checkout-api.test.ts';
const TEST = [FILE, 'POST /checkout', 'books the order in the ledger'];
const MESSAGE = 'expected 422 to be 201 // Object.is equality';

const MISMATCH = {
  msg: 'order refused',
  err: {
    type: 'LedgerMismatch',
    message: 'order total 1512 differs from the 1513 that the ledger computed',
    stack:
      'LedgerMismatch: order total 1512 differs from the 1513 that the ledger computed\n' +
      '    at book (/app/src/ledger/book.ts:61:11)\n' +
      '    at placeOrder (/app/src/checkout/place-order.ts:34:9)',
  },
};

const REFUSAL = { msg: 'request completed', method: 'POST', url: '/checkout', statusCode: 422 };

function toOptions(frame: Frame) {
  const script =
    'npm ci && docker compose up --wait && npx vitest run --project integration --reporter verbose';
  return {
    ...frame,
    seed: 202,
    image: 'node:24-bookworm',
    script,
    artifacts: ['compose-logs/', 'junit.xml'],
  };
}

function startServices(log: LogWriter): void {
  installPackages(log);
  warnOfDeprecation(log);
  for (const name of ['postgres', 'ledger', 'payments-stub', 'checkout']) {
    log.line(` Container checkout-service-${name}-1  Started`);
    log.pass(900);
  }
  log.line();
  log.line(`${bold(cyan(' RUN '))} ${cyan('v4.0.3')} ${dim('/builds/payments/checkout-service')}`);
}

function playTests(log: LogWriter, rounds: number): void {
  for (let round = 0; round < rounds; round++) {
    writeRequests(log, 70);
    writePassingTests(log, 'tests/integration', 30);
  }
}

function explainFailure(log: LogWriter) {
  log.line(red(`${'⎯'.repeat(7)} Failed Tests 1 ${'⎯'.repeat(7)}`));
  log.line();
  log.line(`${redBadge(bold(' FAIL '))} ${TEST.join(dim(' > '))}`);
  const assertion = log.line(red(`${bold('AssertionError')}: ${MESSAGE}`));
  log.line();
  log.line(green('- Expected'));
  log.line(red('+ Received'));
  log.line();
  log.line(green('- 201'));
  log.line(red('+ 422'));
  log.line();
  const location = log.line(cyan(` ${dim('❯')} ${FILE}:${dim('87:33')}`));
  log.line("     85|     const cart = await cartWith(api, { sku: 'MUG-01', quantity: 1 });");
  log.line("     86|     const answer = await api.post('/checkout', { cart: cart.id });");
  log.line('     87|     expect(answer.status).toBe(201);');
  log.line('       |                           ^');
  log.line();
  return { assertion, location };
}

function stopServices(log: LogWriter): void {
  log.line('$ docker compose logs --no-color > compose-logs/all.txt; docker compose down');
  writeRequests(log, 300);
  for (const name of ['checkout', 'payments-stub', 'ledger', 'postgres']) {
    log.line(` Container checkout-service-${name}-1  Removed`);
  }
}
