import type { Source } from '../source.ts';
import type { KonfluxCluster } from './clusters.ts';
import { createListIntegrationTests } from './integration-tests.ts';
import { KONFLUX_NOTES } from './notes.ts';
import { createGetPipelineRun } from './pipelinerun.ts';
import { createListPipelineRuns } from './pipelineruns.ts';
import { createGetPodEvents } from './pod-events.ts';
import { createGetPolicyReport } from './policy-report.ts';
import { createListReleases } from './releases.ts';
import type { Scope } from './scope.ts';
import { createListSnapshots } from './snapshots.ts';
import { createGetTaskRunLog } from './taskrun-log.ts';
import { createListTaskRuns } from './taskruns.ts';
import { createListTestResults } from './test-results.ts';

/** The namespace that one cluster has for the project of the job. */
export interface Tenancy {
  cluster: KonfluxCluster;
  namespace: string;
}

/** What Konflux knows of one merge request. Credentials only read. */
export function createKonfluxSource(tenancies: readonly Tenancy[], pinned: Omit<Scope, 'places'>): Source {
  const places = tenancies.map(({ cluster, namespace }) => cluster.openNamespace(namespace));
  const scope = { ...pinned, places };
  return {
    name: 'konflux',
    notes: KONFLUX_NOTES,
    tools: [
      createListPipelineRuns(scope),
      createGetPipelineRun(scope),
      createListTaskRuns(scope),
      createListTestResults(scope),
      createGetTaskRunLog(scope),
      createGetPodEvents(scope),
      createGetPolicyReport(scope),
      createListSnapshots(scope),
      createListIntegrationTests(scope),
      createListReleases(scope),
    ],
  };
}
