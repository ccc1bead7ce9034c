import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { type DockerEngine, startDocker } from '../services/docker.ts';
import type { EngineAndImage } from '../services/docker-options.ts';
import { connect, containersWith } from '../services/docker-sandboxes.ts';
import { textOf } from '../services/model.ts';
import { dockerGap, ENGINE_MS, sharedDocker, titleWithDocker } from '../services/shared-docker.ts';
import { launch, run, stopProcesses } from './service-process.ts';
import {
  addHook,
  arrange,
  arrangeStopped,
  ask,
  FINDING,
  failPipeline,
  investigate,
  lastRequest,
  noteOf,
  notes,
  REPLY,
  scene,
} from './story-scene.ts';

/** By which its containers are told from those of other tests. */
const PIDS = 99;

afterEach(stopProcesses);

test('without its engine the service says so and does not start', async () => {
  await arrangeStopped(withDocker({ socketPath: '/nowhere/docker.sock', image: 'any' }));
  const { code, text } = await launch(scene, 'all').failed();
  expect(code).not.toBe(0);
  expect(text).toContain('/nowhere/docker.sock');
});

describe.skipIf(dockerGap !== null)(titleWithDocker('with Docker'), () => {
  beforeAll(sharedDocker, ENGINE_MS);

  test('a failed pipeline becomes a note, a reply an answer, with the same files in another container', async () => {
    await arrange(withDocker(await sharedDocker()));
    const { jobId } = failPipeline();
    scene.model.script = investigate(jobId);
    const note = await noteOf(0);
    expect(note.body).toContain(FINDING);

    ask(note.discussionId, 'Is the e2e failure the same problem?');
    const answer = await noteOf(1);
    expect(answer).toMatchObject({ discussionId: note.discussionId, body: expect.stringContaining(REPLY) });
    expect(lastRequest()).toContain('2001:AssertionError: expected 10.00 to equal 10.01');
    expect(notes()).toHaveLength(2);

    await scene.stop();
    expect(await containers(await sharedDocker())).toEqual([]);
  }, 60_000);

  test('without its image the service says how to build it and does not start', async () => {
    const { socketPath } = await sharedDocker();
    await arrangeStopped(withDocker({ socketPath, image: 'no-such-image' }));
    const { code, text } = await launch(scene, 'all').failed();
    expect(code).not.toBe(0);
    expect(text).toContain('build it: docker build -f docker/sandbox.Dockerfile -t no-such-image');
  });

  test('a worker that is killed in the middle leaves no container, and the next one goes on with its files', async () => {
    await arrangeStopped(withDocker(await sharedDocker()));
    const first = await run(scene, 'all');
    addHook(first.url);
    const { story, isReached } = sleepBeforeTheEnd();
    await isReached;
    await expect.poll(async () => commands(await sharedDocker()), { timeout: 10_000 }).toContain('sleep 61');
    await first.kill();
    await expect.poll(async () => containers(await sharedDocker()), { timeout: 20_000 }).toEqual([]);

    scene.model.script = story;
    await run(scene, 'all');
    expect((await noteOf(0)).body).toContain(FINDING);
    expect(lastRequest()).toContain('2001:AssertionError');
    const fetches = scene.gitlab.requests.filter(({ path }) => path.endsWith('/trace'));
    expect(fetches).toHaveLength(1);
  }, 90_000);
});

describe.skipIf(dockerGap !== null)(titleWithDocker('an engine that is killed'), () => {
  let engine: DockerEngine;
  beforeAll(async () => {
    const started = await startDocker();
    if (!started) throw new Error('no engine');
    engine = started;
  }, ENGINE_MS);
  afterAll(() => engine?.remove());

  test('in the middle of a command is in the readiness, and when it is back the job goes on', async () => {
    await arrangeStopped(withDocker(engine));
    const service = await scene.start();
    addHook(service.url);
    expect(await sandboxOf(service.url)).toMatchObject({ ok: true });
    const { story, isReached } = sleepBeforeTheEnd();
    await isReached;
    await expect.poll(() => commands(engine), { timeout: 10_000 }).toContain('sleep 61');
    engine.signal('SIGKILL');
    await expect
      .poll(() => sandboxOf(service.url), { timeout: 10_000 })
      .toMatchObject({ ok: false, reason: expect.stringContaining('engine does not answer') });

    scene.model.script = story;
    await engine.restart();
    expect((await noteOf(0)).body).toContain(FINDING);
    expect(scene.model.conversations().at(-1)?.map(textOf).join('\n')).toContain('2001:AssertionError');
    expect(await sandboxOf(service.url)).toMatchObject({ ok: true });
  }, 120_000);
});

function withDocker({ socketPath, image }: EngineAndImage) {
  return {
    config: {
      sandbox: { kind: 'docker', socketPath, image, memoryMb: 256, maxBytes: 67_108_864, pids: PIDS },
    },
  };
}

/** A failed pipeline, and a model that has fetched the log and then runs a command that takes its time. */
function sleepBeforeTheEnd() {
  const { jobId } = failPipeline();
  const story = investigate(jobId);
  const { promise: isReached, resolve } = Promise.withResolvers<void>();
  scene.model.script = (conversation) => {
    if (conversation.filter(({ role }) => role === 'tool').length < 2) return story(conversation);
    resolve();
    return { calls: [{ name: 'sandbox_exec', arguments: { command: 'sleep 61' } }] };
  };
  return { story, isReached };
}

async function sandboxOf(url: string): Promise<unknown> {
  const response = await fetch(`${url}/health/ready`);
  const { dependencies } = (await response.json()) as { dependencies: { name: string }[] };
  return dependencies.find(({ name }) => name === 'sandbox');
}

async function containers(on: EngineAndImage): Promise<string[]> {
  return containersWith(await connect(on), PIDS);
}

/** What runs in them. */
async function commands(on: EngineAndImage): Promise<string[]> {
  const engine = await connect(on);
  const tops = (await containers(on)).map((id) => engine.getContainer(id).top({ ps_args: '-eo pid,args' }));
  const settled = await Promise.allSettled(tops);
  return settled.flatMap((top) => (top.status === 'fulfilled' ? top.value.Processes.flat() : []));
}
