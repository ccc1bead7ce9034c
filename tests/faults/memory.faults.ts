// A process that has done much work, and seen many outages, is no larger than one that has done and seen some.
import { readFile } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, expect, test } from 'vitest';
import { createScene, type Scene } from '../flow/scene.ts';
import { run, stopProcesses } from '../flow/service-process.ts';
import { redis } from '../services/backends.ts';
import { addHookOf } from './killing.ts';

const ROUNDS = 4;
const ANALYSES = 15;
const AWAY_MS = 1_000;
const MIB = 1024 * 1024;

afterEach(stopProcesses);

test('memory grows neither with the number of analyses nor with what was away meanwhile', async () => {
  const scene = await createScene({
    backend: await redis.create(),
    config: { projects: { 'shop/**': { maxConcurrent: 8, usdPerDay: 1_000 } } },
  });
  try {
    const process = await run(scene, 'all');
    addHookOf(scene, process.url);
    const sizes: number[] = [];
    for (let round = 0; round < ROUNDS; round += 1) {
      const analyses = Array.from({ length: ANALYSES }, (_, at) => analyze(scene, `r${round}-${at}`));
      await Promise.all([...analyses, takeAway(scene)]);
      sizes.push(await memoryOf(process.pid));
    }
    const [, second = 0] = sizes;
    // By then everything is loaded and compiled that will be.
    expect(sizes.at(-1)).toBeLessThan(1.25 * second + 32 * MIB);
    expect(await process.end()).toBe(0);
  } finally {
    await scene.close();
  }
});

async function analyze({ gitlab, project, nadia, agent }: Scene, sourceBranch: string): Promise<void> {
  const mr = gitlab.addMergeRequest({
    projectId: project.id,
    authorId: nadia.id,
    title: sourceBranch,
    sourceBranch,
  });
  const pipeline = gitlab.addPipeline({ mergeRequest: mr, jobs: [{ name: 'unit tests' }] });
  gitlab.setJobStatus(gitlab.jobs(pipeline.id)[0]?.id ?? 0, 'failed', { failureReason: 'script_failure' });
  const notes = () => gitlab.notes(project.id, mr.iid).filter(({ authorId }) => authorId === agent.id);
  await expect.poll(notes, { timeout: 60_000 }).toHaveLength(1);
}

/** First GitLab, then the model. */
async function takeAway({ gitlab, model }: Scene): Promise<void> {
  const outage = gitlab.fail({ with: { status: 503 } });
  await sleep(AWAY_MS);
  outage.lift();
  const { script } = model;
  model.script = () => ({ status: 500 });
  await sleep(AWAY_MS);
  model.script = script;
}

async function memoryOf(pid: number | undefined): Promise<number> {
  const [, kilobytes = '0'] = /VmRSS:\s+(\d+) kB/.exec(await readFile(`/proc/${pid}/status`, 'utf8')) ?? [];
  return Number(kilobytes) * 1024;
}
