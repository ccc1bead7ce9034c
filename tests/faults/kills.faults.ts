// Kills at the worst moments of the story and 50 at random ones, on Redis and on the embedded database.
import { afterEach, describe, expect, test } from 'vitest';
import { stopProcesses } from '../flow/service-process.ts';
import { pglite, redis } from '../services/backends.ts';
import { atRandom, killAt, MOMENTS, type Moment, toName, WANTED } from './killing.ts';
import { keepOutcome } from './outcomes.ts';

const SEED = Number(process.env.FAULTS_SEED ?? 1);
/** About as long as the story takes on an idle machine; what comes later finds nothing to break. */
const STORY_MS = 1_200;
const RANDOM_KILLS = 25;

afterEach(stopProcesses);

describe.each([redis, pglite])(`$name, seed ${SEED}`, (backend) => {
  const random = createRandom(SEED + backend.name.length);
  const kills: Moment[][] = [
    ...Object.values(MOMENTS).map((moment) => [moment]),
    [MOMENTS.whileModelAnswers, MOMENTS.whilePosting],
    ...Array.from({ length: RANDOM_KILLS }, () => [atRandom(STORY_MS, random)]),
  ];
  test.each(kills.map((moments, at) => ({ at: at + 1, name: toName(moments), moments })))(
    'kill $at: $name',
    async ({ moments }) => {
      const outcome = await killAt(backend, moments);
      keepOutcome({ ...outcome, fault: `${backend.name}: ${outcome.fault}` });
      expect(outcome).toMatchObject({ lost: 0, doubled: 0 });
      expect(outcome.note).toContain(WANTED);
      expect(outcome.turnsRepeated).toBeLessThanOrEqual(moments.length);
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
