// Every dependency is taken away in the middle of the story and given back; in the end there is the one right note.
import { randomUUID } from 'node:crypto';
import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import Docker from 'dockerode';
import { afterEach, expect, test } from 'vitest';
import { run, stopProcesses } from '../flow/service-process.ts';
import { failPipeline } from '../flow/story-scene.ts';
import { pglite, redis } from '../services/backends.ts';
import { startDocker } from '../services/docker.ts';
import { startPostgres } from '../services/postgres.ts';
import { startRedis } from '../services/redis.ts';
import { S3_BUCKET, S3_KEYS } from '../services/s3.ts';
import { startS3Proxy } from '../services/s3-proxy.ts';
import { addHookOf, createStory, judge, TURNS, WANTED } from './killing.ts';
import { keepOutcome } from './outcomes.ts';

const AWAY_MS = 5_000;
/** The turn in which it goes away. */
const TURN = 3;

afterEach(stopProcesses);

type Story = Awaited<ReturnType<typeof createStory>>;

async function takeAway(
  fault: string,
  story: Story,
  away: () => Promise<unknown>,
  back: () => Promise<unknown>,
) {
  const { scene, listeners } = story;
  try {
    const process = await run(scene, 'all');
    addHookOf(scene, process.url);
    const { promise: gone, resolve } = Promise.withResolvers<void>();
    let isGone = false;
    listeners.push((asked) => {
      if (isGone || asked !== TURN) return;
      isGone = true;
      void away().then(() => resolve());
    });
    failPipeline(scene);
    await gone;
    await new Promise((wait) => setTimeout(wait, AWAY_MS));
    await back();
    const judged = await judge(story, { fault, since: performance.now() });
    const outcome = { ...judged, isInTime: true, turnsRepeated: story.asked - TURNS };
    keepOutcome(outcome);
    expect(outcome).toMatchObject({ lost: 0, doubled: 0 });
    expect(outcome.note).toContain(WANTED);
    expect(await process.end()).toBe(0);
  } finally {
    await scene.close();
  }
}

test('GitLab', async () => {
  const story = await createStory({ backend: await redis.create() });
  let outage: { lift(): void } | undefined;
  await takeAway(
    'GitLab answers 503',
    story,
    async () => {
      outage = story.scene.gitlab.fail({ with: { status: 503 } });
    },
    async () => outage?.lift(),
  );
});

test('the model', async () => {
  const story = await createStory({ backend: await pglite.create() });
  const { script } = story.scene.model;
  await takeAway(
    'the model answers 500',
    story,
    async () => {
      story.scene.model.script = () => ({ status: 500 });
    },
    async () => {
      story.scene.model.script = script;
    },
  );
});

test.each([
  ['Redis', startRedis],
  ['PostgreSQL', startPostgres],
])('%s', async (name, start) => {
  const server = await start();
  if (!server) throw new Error(`${name} is not installed`);
  try {
    const story = await createStory({ backend: { url: server.url, keyPrefix: 'outage' } });
    await takeAway(`${name} is stopped`, story, server.stop, server.restart);
  } finally {
    await server.stop();
  }
});

test('Docker', async () => {
  const engine = await startDocker();
  if (!engine) throw new Error('a Docker engine can not be started here');
  const { socketPath, image } = engine;
  try {
    const config = { sandbox: { kind: 'docker', socketPath, image } };
    const story = await createStory({ backend: await redis.create(), config });
    await takeAway('the Docker engine is stopped', story, engine.stop, engine.restart);
    expect(await new Docker({ socketPath }).listContainers({ all: true })).toEqual([]);
  } finally {
    await engine.remove();
  }
});

test('S3', async () => {
  const proxy = await startS3Proxy();
  const story = await createStory({
    backend: await redis.create(),
    config: {
      store: {
        ...{ kind: 's3', bucket: S3_BUCKET, prefix: `${randomUUID()}/`, endpoint: proxy.url },
        ...{
          forcePathStyle: true,
          attempts: 2,
          spoolDir: join(mkdtempSync(join(tmpdir(), 'unsaved-')), 'spool'),
        },
        ...{ credentials: { accessKeyIdEnv: 'S3_KEY_ID', secretAccessKeyEnv: 'S3_SECRET' } },
      },
    },
    env: { S3_KEY_ID: S3_KEYS.accessKeyId, S3_SECRET: S3_KEYS.secretAccessKey },
  });
  await takeAway(
    'S3 answers 503',
    story,
    async () => {
      proxy.fault = () => ({ kind: 'status', status: 503 });
    },
    async () => {
      proxy.fault = () => null;
    },
  );
});
