// Logs that cost far more to read than they are long, if read carelessly.
import { Readable } from 'node:stream';
import { expect, test } from 'vitest';
import { findPolicyReport } from '../../../src/sources/konflux/policy-json.ts';
import { decodeLogChunks } from '../../../src/sources/konflux/results-log.ts';

test('a log of blank lines is searched for a policy report in no time', () => {
  const began = performance.now();

  expect(findPolicyReport(`a${'\n'.repeat(150_000)}"components"`)).toBeNull();

  expect(performance.now() - began).toBeLessThan(1_000);
});

test('a line of Tekton Results that does not end is passed on before it fills the memory', async () => {
  const chunk = Buffer.alloc(64 * 1024, 'x');
  let sent = 0;
  let sentAtFirst = 0;
  const body = Readable.from(
    (function* () {
      yield Buffer.from('{"result":');
      for (; sent < 320; sent += 1) yield chunk;
      yield Buffer.from('\n{"result":{"data":"');
      yield Buffer.from(`${Buffer.from('after it\n').toString('base64')}"}}\n`);
    })(),
  );

  const read: Buffer[] = [];
  for await (const part of decodeLogChunks(body)) {
    if (read.length === 0) sentAtFirst = sent;
    read.push(part);
  }

  const text = Buffer.concat(read).toString();
  expect(sentAtFirst).toBeLessThan(200);
  expect(text.length).toBe('{"result":\nafter it\n'.length + 320 * chunk.length);
  expect(text.endsWith('x\nafter it\n')).toBe(true);
});

test('a line of Tekton Results may come in many small pieces', async () => {
  const data = Buffer.from('x'.repeat(3_000_000)).toString('base64');
  const line = Buffer.from(`{"result":{"data":"${data}"}}\n`);
  const pieces = Array.from({ length: Math.ceil(line.length / 500) }, (_, at) =>
    line.subarray(at * 500, (at + 1) * 500),
  );
  const began = performance.now();

  const read: Buffer[] = [];
  for await (const part of decodeLogChunks(Readable.from(pieces))) read.push(part);

  expect(Buffer.concat(read).length).toBe(3_000_000);
  expect(performance.now() - began).toBeLessThan(3_000);
});
