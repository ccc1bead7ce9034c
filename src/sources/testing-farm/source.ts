import type { Source } from '../source.ts';
import type { TestingFarm } from './connection.ts';
import { createGetLog } from './log.ts';
import { TESTING_FARM_NOTES } from './notes.ts';
import { createGetRequest } from './request.ts';
import { createListResults } from './results.ts';
import type { Scope } from './scope.ts';

type Pinned = Omit<Scope, keyof TestingFarm['readers']>;

/** Requests of Testing Farm that are of this job, their results and logs. */
export function createTestingFarmSource(farm: TestingFarm, pinned: Pinned): Source {
  const scope = { ...farm.readers, ...pinned };
  return {
    name: 'testing_farm',
    notes: TESTING_FARM_NOTES,
    tools: [createGetRequest(scope), createListResults(scope), createGetLog(scope)],
  };
}
