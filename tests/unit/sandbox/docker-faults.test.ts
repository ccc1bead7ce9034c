import { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { setTimeout as sleep } from 'node:timers/promises';
import type Docker from 'dockerode';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { RetryableError } from '../../../src/errors.ts';
import { type Sandbox, SandboxLostError } from '../../../src/sandbox/sandbox.ts';
import { type DockerEngine, startDocker } from '../../services/docker.ts';
import {
  connect,
  containersOf,
  exec,
  MIB,
  openProvider,
  openSandbox,
} from '../../services/docker-sandboxes.ts';
import { dockerGap, ENGINE_MS, titleWithDocker } from '../../services/shared-docker.ts';

describe.skipIf(dockerGap !== null)(titleWithDocker('a Docker sandbox'), () => {
  let engine: DockerEngine;
  let docker: Docker;
  beforeAll(async () => {
    const started = await startDocker();
    if (!started) throw new Error('no engine');
    engine = started;
    docker = await connect(engine);
  }, ENGINE_MS);
  afterAll(() => engine?.remove());

  test('whose container is killed under a command goes on with the files last saved', async () => {
    const { sandbox, save } = await open('killed');
    await exec(sandbox, 'echo saved > data/before');
    await save();
    await exec(sandbox, 'echo unsaved > data/after');
    const running = exec(sandbox, 'touch data/running; sleep 60');
    await killWhileRunning('killed');

    expect(await running).toMatchObject({
      exitCode: 137,
      ending: 'lost',
      stderr: expect.stringMatching(/replaced.*last saved/),
    });
    expect(await exec(sandbox, 'cat data/before; ls data')).toMatchObject({
      exitCode: 0,
      stdout: 'saved\nbefore\n',
    });
    expect(await containersOf(docker, 'killed')).toHaveLength(1);
  });

  test('in which nothing can be started any more is replaced', async () => {
    const { sandbox, save } = await open('used-up');
    await exec(sandbox, 'echo saved > data/before');
    await save();
    // Process 1 can not end what uses up all processes.
    await kill('used-up', 'SIGSTOP');
    await exec(sandbox, 'exec > /dev/null 2>&1; kill -9 $PPID; f() { f | f & }; f; sleep 60');

    // Now and then one of them ends, and a command gets its place.
    const tryOne = async () => (await exec(sandbox, 'echo x')).ending;
    await expect.poll(tryOne, { timeout: 20_000, interval: 10 }).toBe('lost');
    expect(await exec(sandbox, 'cat data/before')).toMatchObject({ exitCode: 0, stdout: 'saved\n' });
    expect(await containersOf(docker, 'used-up')).toHaveLength(1);
  });

  test('in which a command can not be ended is replaced', async () => {
    const { sandbox } = await open('not-ending');
    await kill('not-ending', 'SIGSTOP');
    const controller = new AbortController();
    const running = exec(sandbox, 'echo > started; sleep 60', { signal: controller.signal });
    setTimeout(() => controller.abort(new Error('no longer wanted')), 500);
    await expect(running).rejects.toThrow('no longer wanted');
    expect(await exec(sandbox, 'echo fine')).toMatchObject({ exitCode: 0, stdout: 'fine\n' });
  });

  test('that is lost while a file comes in says so, and takes it the next time', async () => {
    const { sandbox } = await open('incoming');
    const slow = Readable.from(
      (async function* () {
        yield Buffer.alloc(MIB);
        await killWhileRunning('incoming');
        yield Buffer.alloc(MIB);
      })(),
    );
    await expect(sandbox.writeFile('/tmp/data/f', slow)).rejects.toThrow(SandboxLostError);
    expect(await sandbox.writeFile('/tmp/data/f', 'again')).toBe(5);
    expect((await sandbox.readFile('/tmp/data/f'))?.toString()).toBe('again');
  });

  test('that is lost while it is saved says so, and the stream is broken', async () => {
    const { sandbox } = await open('saving');
    await exec(sandbox, 'head -c 50M /dev/urandom > data/large');
    const archive = sandbox.archive(['/tmp/data'], Number.MAX_SAFE_INTEGER);
    const reading = (async () => {
      let isKilled = false;
      for await (const _ of archive) {
        if (!isKilled) await kill('saving');
        isKilled = true;
      }
    })();
    await expect(reading).rejects.toThrow(SandboxLostError);
    expect(await exec(sandbox, 'ls data')).toMatchObject({ exitCode: 0, stdout: '' });
  });

  test('whose job has used up its time runs no more commands, but keeps its files', async () => {
    const provider = await openProvider({ jobTimeoutMs: 1_500 }, engine);
    const sandbox = await openSandbox({}, provider);
    const late = await exec(sandbox, 'echo kept > data/f; sleep 60');
    expect(late).toMatchObject({ exitCode: 124, ending: 'timed-out' });
    expect(await exec(sandbox, 'echo x')).toMatchObject({
      exitCode: 124,
      ending: 'timed-out',
      stderr: expect.stringContaining('Answer with what you have'),
    });
    expect((await sandbox.readFile('/tmp/data/f'))?.toString()).toBe('kept\n');
  });

  test('whose engine is killed says so and, when it is back, goes on with the files last saved', async () => {
    const { sandbox, save, provider } = await open('engine');
    await exec(sandbox, 'echo saved > data/before');
    await save();
    const running = exec(sandbox, 'touch data/running; sleep 60');
    await sleep(300);
    engine.signal('SIGKILL');
    await expect(running).rejects.toThrow(RetryableError);
    await expect(exec(sandbox, 'echo x')).rejects.toThrow(RetryableError);
    await expect(provider.check()).rejects.toThrow('engine does not answer');

    await engine.restart();
    await provider.check();
    // Now and then one of them ends, and a command gets its place.
    const tryOne = async () => (await exec(sandbox, 'echo x')).ending;
    await expect.poll(tryOne, { timeout: 20_000, interval: 10 }).toBe('lost');
    expect(await exec(sandbox, 'cat data/before')).toMatchObject({ exitCode: 0, stdout: 'saved\n' });
  });

  test('that was kept ready when its engine went away is given up, and says what could not be had', async () => {
    const provider = await openProvider({ pool: 1 }, engine);
    engine.signal('SIGKILL');
    const opening = openSandbox({}, provider);
    await expect(opening).rejects.toThrow(/^making a sandbox: the container engine does not answer/);
    await engine.restart();
    const sandbox = await openSandbox({}, provider);
    expect(await exec(sandbox, 'echo fine')).toMatchObject({ stdout: 'fine\n' });
  });

  test('that is closed while its engine is away is gone when it is back', async () => {
    const { sandbox } = await open('closed');
    engine.signal('SIGKILL');
    await sandbox.close();
    await engine.restart();
    await expect.poll(() => containersOf(docker, 'closed'), { timeout: 20_000 }).toEqual([]);
  });

  /** A sandbox, and what the caller does to save its files. */
  async function open(sessionId: string) {
    let saved: Buffer | null = null;
    const openLastSaved = async () => saved && Readable.from([saved]);
    const provider = await openProvider({}, engine);
    const sandbox: Sandbox = await openSandbox({ sessionId, openLastSaved }, provider);
    const save = async () => {
      saved = await buffer(sandbox.archive(['/tmp/data'], MIB));
    };
    return { sandbox, provider, save };
  }

  async function killWhileRunning(sessionId: string): Promise<void> {
    await sleep(300);
    await kill(sessionId);
  }

  async function kill(sessionId: string, signal = 'SIGKILL'): Promise<void> {
    const [container] = await containersOf(docker, sessionId);
    if (!container) throw new Error(`no container of ${sessionId}`);
    await docker.getContainer(container.Id).kill({ signal });
  }
});
