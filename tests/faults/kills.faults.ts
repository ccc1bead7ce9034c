// 50 kills at random moments of the story, on Redis and on the embedded database.
import { afterAll, afterEach, describe, expect, test } from 'vitest';
import { stopProcesses } from '../flow/service-process.ts';
import { pglite, redis } from '../services/backends.ts';
import { atRandom, killAt, MOMENTS, type Moment, type Outcome, WANTED } from './killing.ts';
import { printOutcomes } from './outcomes.ts';

const SEED = Number(process.env.FAULTS_SEED ?? 1);
/** About as long as the story takes on an idle machine; what comes later finds nothing to break. */
const STORY_MS = 1_500;
const KILLS = { Redis: 25, PGlite: 25 };

const outcomes: Outcome[] = [];
afterEach(stopProcesses);
afterAll(() => printOutcomes(`kills, seed ${SEED}`, outcomes));

describe.each([redis, pglite])('$name', (backend) => {
  const random = createRandom(SEED + backend.name.length);
  const kills: Moment[][] = [
    ...Object.values(MOMENTS).map((moment) => [moment]),
    ...Array.from({ length: KILLS[backend.name as keyof typeof KILLS] - Object.keys(MOMENTS).length }, () => [
      atRandom(STORY_MS, random),
    ]),
  ];
  test.each(kills.map((moments, at) => ({ at: at + 1, name: moments[0]?.name ?? '', moments })))(
    'kill $at: $name',
    async ({ moments }) => {
      const outcome = await killAt(backend, moments);
      outcomes.push({ ...outcome, fault: `${backend.name}: ${outcome.fault}` });
      expect(outcome).toMatchObject({ lost: 0, doubled: 0 });
      expect(outcome.note).toContain(WANTED);
      expect(outcome.turnsRepeated).toBeLessThanOrEqual(1);
    },
  );
});

/** The same numbers for the same seed. */
function createRandom(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state * 1_664_525 + 1_013_904_223) % 4_294_967_296;
    return state / 4_294_967_296;
  };
}
