import { expect, test } from 'vitest';
import { recognise } from '../../../src/evidence/recognise.ts';

const namesOf = (line: string): string[] => recognise(line).map(([name]) => name);

test.each([
  ['src/app.c:7:3: error: unknown type name', 'compiler-error'],
  ["src/types.ts(4,1): error TS1005: ';' expected.", 'compiler-error'],
  ["ld: undefined reference to `ledger_round'", 'linker-error'],
  ['./x.py:12:80: E501 line too long', 'lint-error'],
  ['app/x.rb:58:5: F: Lint/Syntax: unexpected token', 'severe-offence'],
  ['--- FAIL: TestPrice (0.00s)', 'test-failed'],
  ['not ok 3 - rounds half up', 'test-failed'],
  ['test tests::rounds ... FAILED', 'test-failed'],
  ['Failures:', 'failure-heading'],
  ['AssertionError: expected 3 to equal 4', 'assertion'],
  ['     Failure/Error: expect(total).to eq(3)', 'failure-error'],
  ['java.lang.IllegalStateException: closed', 'exception'],
  ['    at Object.<anonymous> (src/price.test.ts:32:22)', 'frame'],
  ['Segmentation fault (core dumped)', 'crash'],
  ['write /var/lib/x: no space left on device', 'resources'],
  ['Killed', 'resources'],
  ['dial tcp 10.0.0.1:5432: connect: connection refused', 'network'],
  ['lookup registry on 10.0.0.2:53: no such host', 'network'],
  ['received HTTP status 429', 'network'],
  ['fatal: unable to access: The requested URL returned error: 403', 'denied'],
  ["fixture 'client' not found", 'missing'],
  ['No output has been received in the last 10m0s', 'timeout'],
  ['make: *** [Makefile:24: check] Error 1', 'build-failed'],
  ['Tests:       1 failed, 126 passed, 127 total', 'summary'],
  ['/work/a.xls: Xls.Dropper FOUND', 'finding'],
  ['0 errors, 2 warnings', 'none-of-it'],
  ['  ✓ refuses a failed payment (3 ms)', 'passing'],
  ['$ npm test', 'echoed-script'],
  ['Downloading https://example.com/errors-1.0.tgz', 'fetching'],
])('%s is known as %s', (line, name) => {
  expect(namesOf(line)).toContain(name);
});

test.each([
  ['Successfully installed x-1.0', 'timeout'],
  ['worker with pid 13403 is up', 'denied'],
  ['[142923] item handled', 'network'],
  ['src/pay.ts | 88.2 | 70 | 401-403', 'denied'],
  ['the ROOM is ready', 'resources'],
  ['format check failed', 'echoed-script'],
  ['final result: 3 tests failed', 'echoed-script'],
  ['environment variable X is not set', 'echoed-script'],
  ['forbidden: no such namespace', 'echoed-script'],
])('%s is not taken for %s', (line, name) => {
  expect(namesOf(line)).not.toContain(name);
});
