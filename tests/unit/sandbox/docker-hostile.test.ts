import { beforeAll, beforeEach, describe, expect, test } from 'vitest';
import type { Sandbox } from '../../../src/sandbox/sandbox.ts';
import { exec, MIB, openSandbox } from '../../services/docker-sandboxes.ts';
import { dockerGap, ENGINE_MS, sharedDocker, titleWithDocker } from '../../services/shared-docker.ts';

describe.skipIf(dockerGap !== null)(titleWithDocker('a command that'), () => {
  beforeAll(sharedDocker, ENGINE_MS);

  let sandbox: Sandbox;
  beforeEach(async () => {
    sandbox = await openSandbox();
    await exec(sandbox, 'echo kept > before');
    return async () => {
      // Whatever it did, the next one works, and nothing of it is left but files.
      const next = await exec(sandbox, 'cat before; ls -d /proc/[0-9]* | wc -l');
      // Process 1, the supervisor, the shell and ls, wc in their pipeline.
      expect(next).toMatchObject({
        exitCode: 0,
        ending: 'exited',
        stdout: expect.stringMatching(/^kept\n[3-5]\n$/),
      });
    };
  });

  test('forks without end is ended in time, or at worst with its container', async () => {
    const { ending } = await exec(sandbox, 'f() { f | f & }; f; sleep 60', { timeoutMs: 1_500 });
    expect(['timed-out', 'lost']).toContain(ending);
    expect(await exec(sandbox, 'echo fine')).toMatchObject({ exitCode: 0, stdout: 'fine\n' });
  });

  test('forks without end in the background ends with its shell, or at worst with its container', async () => {
    const { ending } = await exec(sandbox, 'f() { f | f & }; f');
    expect(['exited', 'lost']).toContain(ending);
    expect(await exec(sandbox, 'echo fine')).toMatchObject({ exitCode: 0, stdout: 'fine\n' });
  });

  test('leaves processes behind does not wait for them', async () => {
    const startedAt = performance.now();
    const result = await exec(sandbox, 'sleep 60 & setsid sleep 60 & nohup sleep 60 > /dev/null & echo done');
    expect(result).toMatchObject({ exitCode: 0, stdout: 'done\n' });
    expect(performance.now() - startedAt).toBeLessThan(5_000);
  });

  test('fills the disk is told so', async () => {
    const result = await exec(sandbox, 'head -c 1G /dev/zero > big');
    expect(result.exitCode).not.toBe(0);
    expect(result.stderr).toContain('No space left');
    expect((await exec(sandbox, 'rm big; df --output=used /tmp | tail -n 1')).stdout.trim()).toBe('4');
  });

  test('makes files without end is told so', async () => {
    const result = await exec(sandbox, 'i=0; while true > file-$i; do i=$((i + 1)); done; echo $i');
    expect(Number(result.stdout)).toBeGreaterThan(1_000);
    expect(result.stderr).toContain('No space left');
    await exec(sandbox, 'rm -f file-*');
  });

  test('prints gigabytes is cut, and nobody holds them', async () => {
    const before = process.memoryUsage().rss;
    const result = await exec(sandbox, 'yes | head -c 1500M; yes error | head -c 500M >&2', {
      maxOutputBytes: 5 * MIB,
      timeoutMs: 60_000,
    });
    expect(result).toMatchObject({ exitCode: 0, truncated: true });
    expect([result.stdout.length, result.stderr.length]).toEqual([5 * MIB, 5 * MIB]);
    expect(process.memoryUsage().rss - before).toBeLessThan(100 * MIB);
  });

  test('eats memory in a part of it is told so, even if the rest is fine', async () => {
    const result = await exec(sandbox, `python3 -c 'x = bytearray(1 << 30)'; echo went on`);
    expect(result).toMatchObject({ exitCode: 0, stdout: 'went on\n', ending: 'out-of-memory' });
    expect(result.stderr).toContain('memory');
  });

  test('eats memory with many processes loses them', async () => {
    const hog = `python3 -c 'x = b"x" * (40 << 20); import time; time.sleep(30)'`;
    const result = await exec(sandbox, `for i in 1 2 3 4 5 6 7 8; do ${hog} & done; wait`, {
      timeoutMs: 4_000,
    });
    expect(result.stderr).toMatch(/memory|4000 ms/);
  });

  test('ends itself with a signal is told which', async () => {
    expect(await exec(sandbox, 'kill -SEGV $$')).toMatchObject({
      exitCode: 139,
      ending: 'signal',
      stderr: 'The command was ended by SIGSEGV.\n',
    });
  });

  test('ends everything it can, its supervisor too, is ended', async () => {
    const result = await exec(sandbox, 'kill -9 -1; sleep 60', { timeoutMs: 1_000 });
    expect(result).toMatchObject({ exitCode: 137, ending: 'signal' });
  });

  test('stops its supervisor is ended', async () => {
    const result = await exec(sandbox, 'kill -STOP $PPID; sleep 60', { timeoutMs: 1_000 });
    expect(result).toMatchObject({ exitCode: 137, ending: 'signal' });
  });

  test('writes past its supervisor is ended', async () => {
    const result = await exec(sandbox, 'yes > /proc/$PPID/fd/1', { maxOutputBytes: 100_000 });
    expect(result).toMatchObject({ truncated: true, ending: 'signal' });
    expect(result.stdout).toHaveLength(100_000);
  });

  test('does not listen is ended by an abort', async () => {
    const controller = new AbortController();
    const { signal } = controller;
    const running = exec(sandbox, `trap '' TERM INT HUP; while :; do :; done`, { signal });
    setTimeout(() => controller.abort(new Error('no longer wanted')), 500);
    await expect(running).rejects.toThrow('no longer wanted');
  });

  test('opens files without end is told so', async () => {
    const result = await exec(sandbox, `python3 -c 'x = [open("/dev/null") for _ in range(10_000)]'`);
    expect(result).toMatchObject({ exitCode: 1, stderr: expect.stringContaining('Too many open files') });
  });

  test('is too long for the system is told so', async () => {
    const result = await exec(sandbox, `: ${'x'.repeat(200_000)}`);
    expect(result).toMatchObject({
      exitCode: 126,
      stderr: expect.stringContaining('Argument list too long'),
    });
  });

  test('waits for input gets none', async () => {
    expect(await exec(sandbox, 'cat; echo done')).toMatchObject({ exitCode: 0, stdout: 'done\n' });
  });
});
