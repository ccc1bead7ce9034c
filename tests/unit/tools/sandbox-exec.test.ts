import { expect, onTestFinished, test } from 'vitest';
import { PermanentError } from '../../../src/errors.ts';
import { createVirtualSandboxes } from '../../../src/sandbox/virtual/provider.ts';
import { createToolbox } from '../../services/redactor.ts';
import { call } from './calling.ts';
import { createMemorySandbox } from './memory-sandbox.ts';

test('a command runs in the sandbox and answers with its code and both streams', async () => {
  const sandbox = await virtualSandbox();
  const toolbox = createToolbox({ sandbox, sources: [] });

  const outcome = await call(toolbox, 'sandbox_exec', { command: 'echo out; echo err >&2; exit 3' });

  expect(outcome).toEqual({ result: { exit_code: 3, stdout: 'out\n', stderr: 'err\n' }, isError: false });
});

test('output over 4 KB is in a file, and the model sees how it begins and ends and how much is missing', async () => {
  const sandbox = await virtualSandbox();
  const toolbox = createToolbox({ sandbox, sources: [] });

  const { result } = await call(toolbox, 'sandbox_exec', { command: 'seq 1 5000' });

  const whole = Array.from({ length: 5000 }, (_, index) => `${index + 1}\n`).join('');
  expect(result).toMatchObject({ exit_code: 0, stderr: '', stdout_file: '/tmp/_out/0.txt' });
  expect(String(await sandbox.readFile('/tmp/_out/0.txt'))).toBe(whole);
  const { head, leftOut, tail } = partsOf(result.stdout);
  expect(whole.startsWith(head)).toBe(true);
  expect(whole.endsWith(tail)).toBe(true);
  expect(leftOut).toBe(whole.length - head.length - tail.length);
  expect(result.stdout).toContain('/tmp/_out/0.txt');
  const again = await call(toolbox, 'sandbox_exec', { command: `grep -c 99 ${result.stdout_file}` });
  expect(again.result.stdout).toBe(`${whole.split('\n').filter((line) => line.includes('99')).length}\n`);
});

test.each([4096, 4097])('%i bytes of output: the limit itself is still inline', async (bytes) => {
  const sandbox = createMemorySandbox({ stdout: 'x'.repeat(bytes) });
  const { result } = await call(createToolbox({ sandbox, sources: [] }), 'sandbox_exec', { command: 'x' });

  expect('stdout_file' in result).toBe(bytes > 4096);
  expect(sandbox.files.size).toBe(bytes > 4096 ? 1 : 0);
});

test.each(['é', '€', '🐦'])('no %s is cut in two, wherever the cut falls', async (character) => {
  for (const shift of [0, 1, 2, 3]) {
    const stdout = 'a'.repeat(shift) + character.repeat(3000);
    const sandbox = createMemorySandbox({ stdout });
    const { result } = await call(createToolbox({ sandbox, sources: [] }), 'sandbox_exec', { command: 'x' });

    const { head, leftOut, tail } = partsOf(result.stdout);
    expect(head + tail).not.toContain('\uFFFD');
    expect(leftOut).toBe(Buffer.byteLength(stdout) - Buffer.byteLength(head) - Buffer.byteLength(tail));
    expect(Buffer.byteLength(head + tail)).toBeGreaterThan(4080);
  }
});

test('both streams are saved when both are long, each under its own number', async () => {
  const sandbox = createMemorySandbox({ stdout: 'o'.repeat(5000), stderr: 'e'.repeat(6000) });
  const { result } = await call(createToolbox({ sandbox, sources: [] }), 'sandbox_exec', { command: 'x' });

  expect(result).toMatchObject({ stdout_file: '/tmp/_out/0.txt', stderr_file: '/tmp/_out/1.txt' });
  expect(sandbox.files.get('/tmp/_out/1.txt')?.length).toBe(6000);
});

test('numbers go on after those that a resumed session brings with it', async () => {
  const sandbox = createMemorySandbox({ stdout: 'x'.repeat(5000) });
  await sandbox.writeFile('/tmp/_out/9.txt', 'from yesterday');
  await sandbox.writeFile('/tmp/_out/10.txt.left-out', 'from yesterday, too large to be kept');
  await sandbox.writeFile('/tmp/_out/notes-77.md', 'not one of ours');
  const toolbox = createToolbox({ sandbox, sources: [] });

  const files = await Promise.all(
    [1, 2, 3].map(() =>
      call(toolbox, 'sandbox_exec', { command: 'x' }).then(({ result }) => result.stdout_file),
    ),
  );

  expect(files.toSorted()).toEqual(['/tmp/_out/11.txt', '/tmp/_out/12.txt', '/tmp/_out/13.txt']);
  expect(String(sandbox.files.get('/tmp/_out/9.txt'))).toBe('from yesterday');
});

test('a command that runs out of time says so', async () => {
  const toolbox = createToolbox({ sandbox: await virtualSandbox(), sources: [] });

  const { result } = await call(toolbox, 'sandbox_exec', {
    command: 'while true; do :; done',
    timeout_seconds: 1,
  });

  expect(result).toMatchObject({ exit_code: 124, timed_out: true });
});

test('output that was dropped is marked, and the time asked for is the time given', async () => {
  const sandbox = createMemorySandbox({ stdout: 'x'.repeat(5000), truncated: true });
  const toolbox = createToolbox({ sandbox, sources: [], limits: { maxOutputBytes: 5000 } });

  const { result } = await call(toolbox, 'sandbox_exec', { command: 'yes', timeout_seconds: 7 });

  expect(result.truncated).toBe(true);
  expect(sandbox.ran).toEqual([{ command: 'yes', timeoutMs: 7000, maxOutputBytes: 5000 }]);
});

test('where output was cut there is no part of a secret, and what was not cut is whole', async () => {
  const toolbox = createToolbox({
    sandbox: await virtualSandbox(),
    sources: [],
    limits: { maxOutputBytes: 20 },
  });
  const command = `printf 12345; printf 'it printed gl${'pat'}-aB3xK9mQ2vR7tL5wN8pD' >&2`;
  const { result } = await call(toolbox, 'sandbox_exec', { command });
  expect(result).toMatchObject({ stdout: '12345', stderr: 'it printed', truncated: true });
});

test('output that is no text is named, and the model told to write it to a file, which then is whole', async () => {
  const sandbox = await virtualSandbox();
  const toolbox = createToolbox({ sandbox, sources: [] });

  const { result } = await call(toolbox, 'sandbox_exec', { command: 'seq 1 9 | gzip -c' });
  const command = 'seq 1 9 | gzip -c > /tmp/_out/seq.gz; zcat /tmp/_out/seq.gz | tail -n 1';
  const again = await call(toolbox, 'sandbox_exec', { command });

  expect(result).toEqual({
    exit_code: 0,
    stdout: expect.stringMatching(/^\[binary: gzip; not kept, .* a file below \/tmp\/_out .*zcat.*\]$/),
    stderr: '',
  });
  expect(again.result.stdout).toBe('9\n');
});

test.each(['stdout', 'stderr'])(
  'large binary output on %s is neither shown nor in a file',
  async (stream) => {
    const sandbox = createMemorySandbox({ [stream]: '\x7fELF\x02\x01\ufffd'.repeat(10_000) });
    const { result } = await call(createToolbox({ sandbox, sources: [] }), 'sandbox_exec', { command: 'x' });

    expect(result[stream]).toMatch(/^\[binary: elf;/);
    expect(Object.keys(result)).toEqual(['exit_code', 'stdout', 'stderr']);
    expect(sandbox.files.size).toBe(0);
  },
);

test('names that are separated by NULs are shown, with a sign for each NUL', async () => {
  const toolbox = createToolbox({ sandbox: await virtualSandbox(), sources: [] });

  const { result } = await call(toolbox, 'sandbox_exec', { command: "printf 'a.log\\0b c.log\\0'" });

  expect(result.stdout).toBe('[␀ stands for each NUL that was printed]\na.log␀b c.log␀');
});

test('of many such names the file has the same signs', async () => {
  const stdout = Array.from({ length: 2_000 }, (_, at) => `name ${at}\0`).join('');
  const sandbox = createMemorySandbox({ stdout });

  const { result } = await call(createToolbox({ sandbox, sources: [] }), 'sandbox_exec', { command: 'x' });

  expect(result.stdout).toMatch(/^\[␀ stands for each NUL that was printed\]\nname 0␀.*name 1999␀$/s);
  expect(String(sandbox.files.get('/tmp/_out/0.txt'))).toBe(stdout.replaceAll('\0', '␀'));
});

test('a full sandbox loses the middle of the output, not the whole of it', async () => {
  const sandbox = createMemorySandbox(
    { exitCode: 1, stdout: `first\n${'x'.repeat(9000)}\nlast` },
    { maxBytes: 10 },
  );
  const { result, isError } = await call(createToolbox({ sandbox, sources: [] }), 'sandbox_exec', {
    command: 'x',
  });

  expect(isError).toBe(false);
  expect(result).toMatchObject({
    exit_code: 1,
    stdout: expect.stringMatching(/^first\n.*sandbox is full.*last$/s),
  });
  expect(result).not.toHaveProperty('stdout_file');
});

test('an abort is thrown with its reason, also in the middle of a command', async () => {
  const toolbox = createToolbox({ sandbox: await virtualSandbox(), sources: [] });
  const controller = new AbortController();
  const reason = new Error('a newer commit was pushed');

  const running = call(toolbox, 'sandbox_exec', { command: 'while true; do :; done' }, controller.signal);
  setTimeout(() => controller.abort(reason), 50);

  await expect(running).rejects.toBe(reason);
  await expect(call(toolbox, 'sandbox_exec', { command: 'true' }, controller.signal)).rejects.toBe(reason);
});

test('a sandbox that broke is not the model’s business: it is thrown', async () => {
  const broken = new PermanentError('The engine is gone');
  const sandbox = { ...createMemorySandbox(), exec: async () => Promise.reject(broken) };

  await expect(call(createToolbox({ sandbox, sources: [] }), 'sandbox_exec', { command: 'x' })).rejects.toBe(
    broken,
  );
});

async function virtualSandbox() {
  const sandbox = await createVirtualSandboxes({ maxBytes: 32 * 1024 * 1024 }).create();
  onTestFinished(() => sandbox.close());
  return sandbox;
}

function partsOf(preview: unknown) {
  const parts = /^(.*)\n\[… (\d+) bytes left out, [^\n]*\]\n(.*)$/s.exec(String(preview));
  if (!parts) throw new Error(`not a preview: ${preview}`);
  return { head: parts[1] ?? '', leftOut: Number(parts[2]), tail: parts[3] ?? '' };
}
