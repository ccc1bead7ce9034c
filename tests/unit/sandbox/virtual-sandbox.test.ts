import { execFile } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import { Writable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { promisify } from 'node:util';
import { afterEach, expect, test } from 'vitest';
import { RetryableError } from '../../../src/errors.ts';
import { type ExecResult, type Sandbox, SandboxFullError } from '../../../src/sandbox/sandbox.ts';
import { createVirtualSandboxes, type VirtualSandboxOptions } from '../../../src/sandbox/virtual/provider.ts';

const PROVIDER = join(import.meta.dirname, '../../../src/sandbox/virtual/provider.ts');
const MIB = 1024 * 1024;

const opened: Sandbox[] = [];
afterEach(async () => {
  for (const sandbox of opened.splice(0)) await sandbox.close();
});

test('no command alters a file that it only reads', async () => {
  const sandbox = await open();
  const text = Array.from({ length: 2000 }, (_, index) => `b${index} grün\ta,${index % 7}\n`).join('');
  await sandbox.writeFile('/tmp/f', text);
  const readers =
    'cat,head,tail,tac,rev,sort,uniq,wc,nl,fold,expand,unexpand,strings,md5sum,sha1sum,sha256sum,base64,od,file,' +
    'gzip -c,grep -n b,rg b,sed s/b/c/,awk {print},cut -f1,column,split,tee x <,tr a b <,paste -s,comm f,join f,' +
    'diff f,tar cf t,xan headers,cp f,stat,du,ls -l,find';
  for (const reader of readers.split(',')) await exec(sandbox, `${reader} f > out`);
  await exec(sandbox, 'cp f g; sed -i s/b/c/ g; echo more >> g; ln f h; echo more >> h; sort -r -o i f');
  expect((await sandbox.readFile('/tmp/f'))?.toString()).toBe(text);
});

test('what is written below a symbolic link is where the link leads', async () => {
  const sandbox = await open();
  await exec(
    sandbox,
    'ln -s data l; echo 1 > l/a; cp l/a l/b; mv l/a l/c; mkdir -p l/d/e; tee l/d/e/f < l/b; rm l/b',
  );
  expect(await sandbox.list('/tmp/data')).toEqual(['c', 'd']);
  expect((await exec(sandbox, 'ln l/c l/h; chmod 700 l/h; stat -c %a data/h')).stdout).toBe('700\n');
  expect((await sandbox.readFile('/tmp/l/d/e/f'))?.toString()).toBe('1\n');
  await sandbox.writeFile('/tmp/l/g', 'by the host');
  expect((await exec(sandbox, 'cat data/g')).stdout).toBe('by the host');
});

test('with a clock that stands still, commands print the same at any time and in any place', async () => {
  const stillAtMs = Date.UTC(2026, 10, 5, 13, 7, 9);
  const command = 'date; jq -n now; touch made; ls -l --full-time /tmp; ls -l data; stat data/log made';
  const printed: string[] = [];
  for (const _run of ['first', 'second']) {
    const sandbox = await open({ stillAtMs });
    await sandbox.writeFile('/tmp/data/log', 'x');
    printed.push((await exec(sandbox, command)).stdout);
  }
  expect(printed[0]).toBe(printed[1]);
  expect(printed[0]).toMatch(/^Thu Nov {2}5 13:07:09 UTC 2026\n1793884029\n/);
  expect(printed[0]).toMatch(/Nov {2}5 13:07 log\n/);
});

test('a file whose links go in a circle is not there and can not be written', async () => {
  const sandbox = await open();
  await exec(sandbox, 'ln -s b a; ln -s a b');
  expect(await sandbox.readFile('/tmp/a/f')).toBeNull();
  expect(await sandbox.list('/tmp/a')).toEqual([]);
  await expect(sandbox.writeFile('/tmp/a/f', 'x')).rejects.toThrow('circle');
});

test('a command that makes too many files fails and leaves none of them', async () => {
  const sandbox = await open({ maxFiles: 50 });
  const result = await exec(sandbox, 'for i in $(seq 100); do echo > data/$i; done');
  expect(result).toMatchObject({ exitCode: 1, stderr: expect.stringContaining('50 files') });
  expect(await sandbox.list('/tmp/data')).toEqual([]);
});

test.each([
  ['nothing', ':', 'It had changed no files by then.'],
  ['something', 'echo 1 > a; rm data/old', 'kept (files and folders: 2)'],
])('a command that had changed %s when it was ended says so', async (_, before, expected) => {
  const sandbox = await open();
  await sandbox.writeFile('/tmp/data/old', 'x');
  const result = await exec(sandbox, `${before}; while true; do :; done`, 1500);
  expect(result).toMatchObject({
    exitCode: 124,
    ending: 'timed-out',
    stderr: expect.stringContaining(expected),
  });
});

test('a large file that was written just before its shell died is kept whole', async () => {
  const sandbox = await open({ maxBytes: 64 * MIB, heapMb: 64 });
  const large = Buffer.alloc(4 * MIB, 'a line of a log\n');
  await sandbox.writeFile('/tmp/data/large', large);
  const eat = `awk 'BEGIN { while (1) a[i++] = sprintf("%2000d", i) }'`;
  const result = await exec(sandbox, `cat data/large > one; cat data/large > two; ${eat}`);
  expect(result).toMatchObject({ exitCode: 137, stderr: expect.stringContaining('files and folders: 2') });
  for (const name of ['one', 'two']) {
    expect(large.equals((await sandbox.readFile(`/tmp/${name}`)) ?? Buffer.of()), name).toBe(true);
  }
});

test('a file that comes in while a command runs is kept when the command has to be ended', async () => {
  const sandbox = await open();
  const running = exec(sandbox, 'echo 1 > data/by-command; while true; do :; done', 1500);
  await sandbox.writeFile('/tmp/data/by-host', 'x');
  await running;
  expect(await sandbox.list('/tmp/data')).toEqual(['by-command', 'by-host']);
});

test.each([
  ['bytes', 'echo 1 > a; cp data/half b; cp data/half c; rm data/half', 'have 1048576 bytes'],
  ['files', 'echo 1 > a; for i in $(seq 100); do echo > $i; done', 'hold 50 files'],
])('a command with too many %s leaves the files as they were when it has to be ended', async (...row) => {
  const [, command, expected] = row;
  const sandbox = await open({ maxBytes: MIB, maxFiles: 50 });
  await sandbox.writeFile('/tmp/data/half', Buffer.alloc(MIB / 2));
  const result = await exec(sandbox, `${command}; while true; do :; done`, 2000);
  expect(result).toMatchObject({ exitCode: 124, stderr: expect.stringContaining(expected) });
  expect(result.stderr).toContain('Nothing it wrote was kept.');
  expect((await exec(sandbox, 'ls . data')).stdout).toBe('.:\n_out\ndata\n\ndata:\nhalf\n');
});

test('after a command without room the next one finds the files as they were', async () => {
  const sandbox = await open({ maxBytes: MIB });
  await sandbox.writeFile('/tmp/data/half', Buffer.alloc(MIB / 2));
  await exec(sandbox, 'rm data/half; echo 1 > a; seq 200000 > all');
  expect((await exec(sandbox, 'ls . data; wc -c < data/half')).stdout).toBe(
    '.:\n_out\ndata\n\ndata:\nhalf\n524288\n',
  );
});

test('a command that removes everything leaves a sandbox that works', async () => {
  const sandbox = await open();
  await exec(sandbox, 'rm -rf /');
  expect(await exec(sandbox, 'pwd; echo x > f; cat f; ls | wc -l')).toMatchObject({
    exitCode: 0,
    stdout: '/tmp\nx\n1\n',
  });
});

test('files that come in at the same time share the room', async () => {
  const sandbox = await open({ maxBytes: MIB });
  const size = MIB * 0.6;
  const writes = ['a', 'b'].map((name) => sandbox.writeFile(`/tmp/data/${name}`, Buffer.alloc(size)));
  const outcomes = await Promise.allSettled(writes);
  expect(outcomes.map((outcome) => outcome.status).sort()).toEqual(['fulfilled', 'rejected']);
  await sandbox.writeFile('/tmp/data/c', Buffer.alloc(MIB * 0.4 - 1));
});

test('a file may replace another that leaves no room beside it', async () => {
  const sandbox = await open({ maxBytes: MIB });
  await sandbox.writeFile('/tmp/data/f', 'x'.repeat(MIB - 10));
  await sandbox.writeFile('/tmp/data/f', 'y'.repeat(MIB - 5));
  expect((await sandbox.readFile('/tmp/data/f'))?.length).toBe(MIB - 5);
  await expect(sandbox.writeFile('/tmp/data/g', '123456')).rejects.toThrow(SandboxFullError);
  expect(await sandbox.writeFile('/tmp/data/g', '12345')).toBe(5);
});

test('a command that runs out of room has changed nothing, even if it goes on', async () => {
  const sandbox = await open({ maxBytes: MIB });
  await sandbox.writeFile('/tmp/data/half', 'x'.repeat(MIB / 2));
  await sandbox.writeFile('/tmp/data/note', 'old');
  const result = await exec(sandbox, 'echo new > data/note; cat data/half data/half > data/all; true');
  expect(result).toMatchObject({ exitCode: 1, stderr: expect.stringContaining('full') });
  expect((await sandbox.readFile('/tmp/data/note'))?.toString()).toBe('old');
  expect(await sandbox.list('/tmp/data')).toEqual(['half', 'note']);
});

test('a shell that can not start is an error that may pass, not a failed command', async () => {
  const sandbox = await open({ heapMb: 1 });
  await expect(exec(sandbox, 'echo x')).rejects.toThrow(RetryableError);
});

test('the end of a busy shell is not the end of other sandboxes', async () => {
  const [one, other] = [await open(), await open()];
  const [busy, quick] = await Promise.all([
    one.exec('while true; do :; done', {
      timeoutMs: 300,
      maxOutputBytes: 10,
      signal: new AbortController().signal,
    }),
    exec(other, 'echo fine'),
  ]);
  expect(busy.ending).toBe('timed-out');
  expect(quick.stdout).toBe('fine\n');
});

test('a sandbox that nobody closed does not keep the process alive', async () => {
  const script = `
    const { createVirtualSandboxes } = await import(${JSON.stringify(PROVIDER)});
    const sandbox = await createVirtualSandboxes({ maxBytes: 1e6 }).create();
    const signal = new AbortController().signal;
    const { stdout } = await sandbox.exec('echo ran', { timeoutMs: 10000, maxOutputBytes: 100, signal });
    process.stdout.write(stdout);`;
  const args = ['--input-type=module', '-e', script];
  const { stdout } = await promisify(execFile)(process.execPath, args, { timeout: 20_000 });
  expect(stdout).toBe('ran\n');
});

async function open(options: Partial<VirtualSandboxOptions> = {}): Promise<Sandbox> {
  const sandbox = await createVirtualSandboxes({ maxBytes: 16 * MIB, ...options }).create();
  opened.push(sandbox);
  return sandbox;
}

function exec(sandbox: Sandbox, command: string, timeoutMs = 20_000): Promise<ExecResult> {
  const signal = new AbortController().signal;
  return sandbox.exec(command, { timeoutMs, maxOutputBytes: 100_000, signal });
}

test('an archive that is given up half way, as when the disk is full, harms nothing else', async () => {
  const sandbox = await open({ maxBytes: 50_000_000 });
  const noise = randomBytes(1_000_000);
  for (let file = 0; file < 20; file += 1) await sandbox.writeFile(`/tmp/data/${file}.bin`, noise);
  const full = new Writable({ write: (_chunk, _encoding, done) => done(new Error('ENOSPC')) });
  await expect(pipeline(sandbox.archive(['/tmp/data'], 50_000_000), full)).rejects.toThrow('ENOSPC');
  await new Promise((resolve) => setImmediate(resolve));
  expect(await sandbox.list('/tmp/data')).toHaveLength(20);
});
