// What the service under test and its neighbours write while they are being tested.
import type { LogWriter } from './log-writer.ts';

/** One line of the checkout service's own log: JSON, as compose shows it. */
export function writeServiceLine(log: LogWriter, fields: Readonly<Record<string, unknown>>): number {
  return log.line(`checkout-1       | ${JSON.stringify({ time: log.time(), pid: 1, ...fields })}`);
}

/** Requests that went well, and the database's and the stub's chatter in between. */
export function writeRequests(log: LogWriter, count: number): void {
  for (let written = 0; written < count; written++) {
    log.pass(log.random.int(3, 60));
    if (written % 11 === 7) writeDatabaseLine(log);
    else if (written % 17 === 9) writeStubLine(log);
    else writeRequest(log);
  }
}

function writeRequest(log: LogWriter): void {
  const [method, url, statusCode] = log.random.pick(REQUESTS);
  writeServiceLine(log, {
    level: 30,
    reqId: log.random.hex(8),
    msg: 'request completed',
    method,
    url: `${url}/${log.random.hex(6)}`,
    statusCode,
    ms: log.random.int(1, 90),
  });
}

function writeDatabaseLine(log: LogWriter): void {
  const buffers = log.random.int(2, 60);
  log.line(
    `postgres-1       | ${log.time()} [${log.random.int(20, 90)}] LOG:  checkpoint complete: wrote ${buffers} buffers`,
  );
}

function writeStubLine(log: LogWriter): void {
  log.line(`payments-stub-1  | ${log.time()} INFO  answered POST /charge, error rate 0.0 %`);
}

const REQUESTS = [
  ['GET', '/carts', 200],
  ['POST', '/carts', 201],
  ['GET', '/prices', 200],
  ['PUT', '/carts/items', 200],
  ['DELETE', '/carts/items', 204],
  ['GET', '/vouchers', 404],
] as const;
