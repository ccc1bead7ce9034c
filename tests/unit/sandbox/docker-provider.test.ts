import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { connect as connectSocket, createServer } from 'node:net';
import { join } from 'node:path';
import { promisify } from 'node:util';
import type Docker from 'dockerode';
import { beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { PermanentError, RetryableError } from '../../../src/errors.ts';
import { startContainer } from '../../../src/sandbox/docker/container.ts';
import { connectEngine } from '../../../src/sandbox/docker/engine.ts';
import { toOptions } from '../../services/docker-options.ts';
import {
  connect,
  containersOf,
  containersWith,
  exec,
  openProvider,
  openSandbox,
} from '../../services/docker-sandboxes.ts';
import { freePort } from '../../services/server.ts';
import { dockerGap, ENGINE_MS, sharedDocker, titleWithDocker } from '../../services/shared-docker.ts';

const PROVIDER = join(import.meta.dirname, '../../../src/sandbox/docker/provider.ts');
const WORKER = join(import.meta.dirname, '../../services/sandbox-process.ts');

test('an engine that is not there is an error that may pass, and says what is missing', async () => {
  const opening = openProvider({}, { socketPath: '/nowhere/docker.sock', image: 'any' });
  await expect(opening).rejects.toThrow(RetryableError);
  await expect(opening).rejects.toThrow(/engine does not answer.*\/nowhere\/docker\.sock/);
});

describe.skipIf(dockerGap !== null)(titleWithDocker('Docker sandboxes'), () => {
  beforeAll(sharedDocker, ENGINE_MS);

  test('without their image say how to build it', async () => {
    const opening = openProvider({ image: 'no-such-image:latest' });
    await expect(opening).rejects.toThrow(PermanentError);
    await expect(opening).rejects.toThrow(
      'build it: docker build -f docker/sandbox.Dockerfile -t no-such-image:latest',
    );
  });

  test('without their runtime say so', async () => {
    await expect(openProvider({ runtime: 'no-such-runtime' })).rejects.toThrow('no-such-runtime');
  });

  test('whose image vanishes say so when they are checked, and when one is to be made', async () => {
    const engine = await connect();
    const { image } = await sharedDocker();
    await engine.getImage(image).tag({ repo: 'vanishing', tag: 'test' });
    const provider = await openProvider({ image: 'vanishing:test' });
    await provider.check();
    await engine.getImage('vanishing:test').remove();
    await expect(provider.check()).rejects.toThrow('no image vanishing:test');
    await expect(openSandbox({}, provider)).rejects.toThrow(
      /no image vanishing:test; build it: docker build/,
    );
  });

  test('are kept ready, and others take their places', async () => {
    const engine = await connect();
    const provider = await openProvider({ pool: 2, pids: 77 });
    await expect.poll(() => containersWith(engine, 77), { timeout: 10_000 }).toHaveLength(2);
    const before = await containersWith(engine, 77);
    const sandbox = await openSandbox({ sessionId: 'from-the-pool' }, provider);
    const [taken] = await containersOf(engine, 'from-the-pool');
    expect(before).toContain(taken?.Id);
    await expect.poll(() => containersWith(engine, 77), { timeout: 10_000 }).toHaveLength(3);
    await sandbox.close();
    await provider.close();
    expect(await containersWith(engine, 77)).toEqual([]);
  });

  test('that were kept ready and have died are not used', async () => {
    const engine = await connect();
    const provider = await openProvider({ pool: 1, pids: 78 });
    const [id = ''] = await containersWith(engine, 78);
    await engine.getContainer(id).kill();
    const sandbox = await openSandbox({}, provider);
    expect(await exec(sandbox, 'echo fine')).toMatchObject({ exitCode: 0, stdout: 'fine\n' });
  });

  test('of a worker that is killed vanish at once, those of another stay', async () => {
    const engine = await connect();
    const mine = await openSandbox({ sessionId: 'of-the-living' });
    const { socketPath, image } = await sharedDocker();
    const worker = spawn(process.execPath, [WORKER, socketPath, image, 'of-the-dead'], {
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    onTestFinished(() => void worker.kill('SIGKILL'));
    await once(worker.stdout, 'data');
    expect(await containersOf(engine, 'of-the-dead')).toHaveLength(1);

    worker.kill('SIGKILL');
    await expect.poll(() => containersOf(engine, 'of-the-dead'), { timeout: 10_000 }).toEqual([]);
    await expect.poll(() => ownedBy(engine, worker.pid), { timeout: 10_000 }).toEqual([]);
    expect(await exec(mine, 'echo fine')).toMatchObject({ exitCode: 0, stdout: 'fine\n' });
  });

  test('that nobody ended are removed when another worker starts, and later; those that may be in use stay', async () => {
    const engine = await connect();
    const { image } = await sharedDocker();
    const inAnHour = `${Date.now() + 3_600_000}`;
    const make = (name: string, expires: string) =>
      engine.createContainer({
        name,
        Image: image,
        Entrypoint: ['sleep', '600'],
        Labels: { 'hummingbird.sandbox': 'true', 'hummingbird.expires': expires },
      });
    const expired = await make('leftover-expired', '1000');
    const ended = await make('leftover-ended', inAnHour);
    const running = await make('leftover-running', inAnHour);
    const justMade = await make('leftover-just-made', inAnHour);
    onTestFinished(async () => {
      for (const container of [running, justMade]) await container.remove({ force: true });
    });
    for (const container of [expired, ended, running]) await container.start();
    await ended.kill();
    await ended.wait();

    const names = async () => (await containersOf(engine, 'leftover')).flatMap(({ Names }) => Names).sort();
    await openProvider({ tickMs: 100 });
    expect(await names()).toEqual(['/leftover-just-made', '/leftover-running']);

    await make('leftover-of-later', '1000');
    await expect.poll(names, { timeout: 10_000 }).toEqual(['/leftover-just-made', '/leftover-running']);
  });

  test('end by themselves when their time is over', async () => {
    const { socketPath, image } = await sharedDocker();
    const limits = { ...toOptions({ socketPath, image }), maxFiles: 1_000, lifetimeMs: 1_000 };
    const container = await startContainer(connectEngine({ socketPath }), limits, null);
    expect(await container.isRunning()).toBe(true);
    await expect.poll(() => container.isRunning(), { timeout: 10_000 }).toBe(false);
  });

  test('that nobody closed do not keep the process alive, and end with it', async () => {
    const { socketPath, image } = await sharedDocker();
    const script = `
      const { openDockerSandboxes } = await import(${JSON.stringify(PROVIDER)});
      const options = ${JSON.stringify(toOptions({ socketPath, image }, { pool: 1 }))};
      const provider = await openDockerSandboxes({ ...options, onError: () => undefined });
      const sandbox = await provider.create({ sessionId: 'forgotten', jobId: 'job' });
      const signal = new AbortController().signal;
      const { stdout } = await sandbox.exec('echo ran', { timeoutMs: 10000, maxOutputBytes: 100, signal });
      process.stdout.write(stdout);`;
    const args = ['--input-type=module', '-e', script];
    const { stdout } = await promisify(execFile)(process.execPath, args, { timeout: 20_000 });
    expect(stdout).toBe('ran\n');
    const engine = await connect();
    await expect.poll(() => containersOf(engine, 'forgotten'), { timeout: 10_000 }).toEqual([]);
  });

  test('are reached over TCP too', async () => {
    const port = await freePort();
    const { socketPath, image } = await sharedDocker();
    const relay = createServer((client) => {
      const engine = connectSocket(socketPath);
      client.pipe(engine).pipe(client);
      client.on('error', () => engine.destroy());
      engine.on('error', () => client.destroy());
    }).listen(port, '127.0.0.1');
    onTestFinished(() => void relay.close());
    const provider = await openProvider({ engine: { url: `http://127.0.0.1:${port}` }, image });
    const sandbox = await openSandbox({}, provider);
    await sandbox.writeFile('/tmp/data/f', 'over TCP');
    expect(await exec(sandbox, 'cat data/f')).toMatchObject({ exitCode: 0, stdout: 'over TCP' });
  });
});

async function ownedBy(engine: Docker, pid: number | undefined): Promise<unknown[]> {
  const all = await engine.listContainers({ all: true, filters: { label: ['hummingbird.sandbox'] } });
  return all.filter(({ Labels }) => Labels['hummingbird.owner']?.endsWith(`:${pid}`));
}
