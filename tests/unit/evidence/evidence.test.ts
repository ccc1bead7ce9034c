import { describe, expect, test } from 'vitest';
import { referenceOf, rowsOf, show } from './show.ts';

const noise = (count: number, from = 0): string[] =>
  Array.from({ length: count }, (_, at) => `step ${from + at} of the build went as it always does`);

describe('what is shown', () => {
  test('are original lines with their numbers, and gaps with how much is left out', () => {
    const log = [...noise(300), 'src/app.c:7:3: error: unknown type name', ...noise(300)].join('\n');
    const { text, ranges } = show(log, { maxBytes: 600 });
    expect(rowsOf(text).get(301)).toBe('src/app.c:7:3: error: unknown type name');
    expect(text).toMatch(/^\[… \d+ lines\]$/m);
    expect(ranges.flat().every((number) => number >= 1 && number <= 601)).toBe(true);
    const left = [...text.matchAll(/\[… (\d+) lines?\]/g)].reduce((sum, [, count]) => sum + Number(count), 0);
    const shown = ranges.reduce((sum, [from, to]) => sum + to - from + 1, 0);
    expect(left + shown).toBe(601);
  });

  test('is all of a log that is small enough', () => {
    expect(show('one\ntwo\n\nthree\n').text).toBe('1|one\n2|two\n\n4|three');
    expect(show('').text).toBe('');
    expect(show('\n\n').text).toBe('[… 2 lines]');
  });

  test('is all of a log without any sign, if there is room for it, and the end of it if there is not', () => {
    const log = noise(5_000).join('\n');
    expect(rowsOf(show(log, { maxBytes: 1_000_000 }).text).size).toBe(5_000);
    const { text, ranges } = show(log, { maxBytes: 4_000 });
    expect(ranges).toEqual([[expect.any(Number), 5_000]]);
    expect(Buffer.byteLength(text)).toBeGreaterThan(3_500);
  });

  test('has the last line, also when it does not end', () => {
    const log = `${`${'x'.repeat(63)}\n`.repeat(1_023) + 'y'.repeat(40)}ERROR: no space left on device`;
    expect(rowsOf(show(log).text).get(1_024)).toMatch(/ERROR: no space left on device$/);
    expect(show(`error: ${'a'.repeat(9_000_000)} the end`).text).toMatch(/^1\|.* the end$/);
  });

  test('has neither colours nor overwritten progress, section marks or time stamps', () => {
    const log = [
      'section_start:1731931200:step_script[collapsed=true]\r\u001b[0K\u001b[0K\u001b[36;1mExecuting\u001b[0;m',
      '\u001b[32;1m$ make\u001b[0;m',
      '10 %\r50 %\r100 % done\r',
      '\u001b]8;;https://example.com\u0007a link\u001b]8;;\u0007',
      'section_end:1731931300:step_script\r\u001b[0Ksection_start:1731931300:cleanup\r\u001b[0KCleaning up',
    ].join('\n');
    expect(show(log).text).toBe('1|Executing\n2|$ make\n3|100 % done\n4|a link\n5|Cleaning up');
    const stamped = ['first', 'error: second', 'third'];
    const stamps = {
      github: '2025-06-03T10:22:11.1234567Z ',
      gitlab: '2026-03-11T09:14:02.123456Z 01O ',
      jenkins: '[2022-05-28T08:25:56.123Z] ',
      clock: '12:30:45  ',
    };
    for (const stamp of Object.values(stamps))
      expect(show(stamped.map((line) => stamp + line).join('\n')).text).toBe(
        '1|first\n2|error: second\n3|third',
      );
  });

  test('folds equal lines in a row, with their count', () => {
    const { text, ranges } = show(`start\n${'warning: same again\n'.repeat(5_000)}error: at last\n`);
    expect(text).toBe('1|start\n2|warning: same again [5000 times]\n5002|error: at last');
    expect(ranges).toEqual([[1, 5002]]);
  });

  test('cuts a very long line in its middle', () => {
    const { text } = show(`ok\nerror: ${'ä'.repeat(20_000)} the end\n`, { maxBytes: 1_000 });
    expect(text).toMatch(/^1\|ok\n2\|error: ä+ \[… \d+ bytes\] ä+ the end$/);
    expect(Buffer.byteLength(text)).toBeLessThanOrEqual(1_000);
  });

  test('says which step wrote the lines, where several wrote into one log', () => {
    const steps = [
      ...noise(60).map((line) => `[prefetch : run] ${line}`),
      ...noise(60).map((line) => `[build : compile] ${line}`),
      '[build : compile] main.go:3:2: undefined: flour',
      ...['push', 'sign'].map(
        (step) => `[build : ${step}] 2025/05/14 10:34:58 Skipping step because a previous step failed`,
      ),
    ].join('\n');
    const { text } = show(steps, { maxBytes: 400 });
    expect(text).toContain('[build : compile]\n');
    expect(rowsOf(text).get(121)).toBe('main.go:3:2: undefined: flour');
  });
});

describe('the choice', () => {
  test('prefers the end of the command that failed to what tidies up after it', () => {
    const log = [
      'section_start:1:step_script\r\u001b[0K$ make test',
      ...noise(200),
      'ledger differs: 3 entries, 4 wanted',
      'section_end:2:step_script\r\u001b[0Ksection_start:2:upload_artifacts_on_failure\r\u001b[0KUploading artifacts',
      ...noise(300, 500).map((line) => `${line}, error budget is fine`),
      'ERROR: Job failed: exit code 1',
    ].join('\n');
    expect(rowsOf(show(log, { maxBytes: 500 }).text).get(202)).toBe('ledger differs: 3 entries, 4 wanted');
  });

  test('prefers the first error to what follows from it', () => {
    const names = Array.from({ length: 200 }, (_, at) => `m${String.fromCharCode(97 + (at % 26))}${at}`);
    const errors = names.map((name) => `src/${name}.ts(1,1): error TS2304: Cannot find name '${name}'.`);
    const first = "src/types.ts(4,1): error TS1005: ';' expected.";
    const text = show(['$ tsc', ...noise(50), first, ...errors].join('\n'), { maxBytes: 800 }).text;
    expect(text).toContain(first);
  });

  test('prefers what is new against a log of the same job that passed', () => {
    const usual = noise(200).map((line, at) => (at % 3 === 0 ? `ERROR: plugin ${at} failed to load` : line));
    const failed = [...usual.slice(0, 90), 'slots left for artifacts: none', ...usual.slice(90)].join('\n');
    const reference = referenceOf(usual.join('\n'));
    expect(rowsOf(show(failed, { maxBytes: 500, reference }).text).get(91)).toBe(
      'slots left for artifacts: none',
    );
  });

  test('sees one answer of a server among many that were good', () => {
    const answers = Array.from(
      { length: 3_000 },
      (_, at) => `GET /orders/${at} answered with status code: ${at === 1_500 ? 503 : 200}`,
    );
    expect(rowsOf(show(answers.join('\n')).text).get(1_501)).toContain('503');
  });

  test('has the command that failed', () => {
    const log = [
      '$ make deps',
      ...noise(300),
      '$ make -j8 check',
      ...noise(300),
      'ledger.c:88:1: error: no such type',
    ];
    expect(rowsOf(show(log.join('\n'), { maxBytes: 600 }).text).get(302)).toBe('$ make -j8 check');
  });

  test('can be explained, by the names of what speaks for and against a line', () => {
    const lines = show(['$ go test', ...noise(99), '--- FAIL: TestPrice (0.00s)'].join('\n'), {
      maxBytes: 300,
    }).explain();
    const failed = lines.find(({ number }) => number === 101);
    expect(failed?.reasons.map(({ name }) => name)).toContain('test-failed');
    const sum = failed?.reasons.reduce((total, { score }) => total + score, 0) ?? 0;
    expect(failed?.score).toBeCloseTo(sum);
  });
});

describe('a huge log', () => {
  test('has its one error found between others that only sound like it', () => {
    const compile = (from: number): string[] =>
      Array.from({ length: 60_000 }, (_, at) => `cc -c src/error_${from + at}.c -o build/${from + at}.o`);
    const error = 'src/pay/ledger.c:88:12: error: conflicting types for ledger_round';
    const { text } = show([...compile(0), error, ...compile(60_000), ...compile(120_000)].join('\n'));
    expect(rowsOf(text).get(60_001)).toBe(error);
  });

  test('of steps that take turns is shown in any size', () => {
    const log = Array.from({ length: 60_000 }, (_, at) => `[task-${at % 7} : step] line ${at} failed`).join(
      '\n',
    );
    expect(Buffer.byteLength(show(log, { maxBytes: 1_000_000 }).text)).toBeLessThanOrEqual(1_000_000);
  });

  test('is kept in bounds, and its line numbers stay right', () => {
    const filler = `${'x'.repeat(99)}\n`.repeat(1_000);
    const parts = Array.from({ length: 300 }, (_, at) =>
      at === 150 ? `${filler}FATAL error: the disk of runner 7 is broken\n` : filler,
    );
    const { text, totalLines, totalBytes } = show(parts.join(''), { maxBytes: 2_000 });
    expect(totalLines).toBe(300_001);
    expect(totalBytes).toBeGreaterThan(30_000_000);
    expect(rowsOf(text).get(151_001)).toBe('FATAL error: the disk of runner 7 is broken');
  });
});
