// The port of a place where runs and what belongs to them are kept: the cluster, KubeArchive, Tekton Results.
import type { Readable } from 'node:stream';

export interface Store {
  /** For messages: `cluster prod`, `KubeArchive of prod`. */
  readonly name: string;
  /** A cluster tells what is; an archive what was, and it may have missed the end. */
  readonly kind: 'cluster' | 'archive';
  keeps(resource: Resource): boolean;
  /** Throws NotFoundError when it is not there. */
  get(resource: Resource, name: string, signal: AbortSignal): Promise<unknown>;
  list(resource: Resource, labels: Labels, signal: AbortSignal): Promise<Page>;
  /** Of one container; undefined where logs are kept for the task run as a whole. */
  openLog(of: LogOwner, container: string | undefined, signal: AbortSignal): Promise<Readable>;
  readonly logsAre: 'by container' | 'by task run';
}

export interface Page {
  items: unknown[];
  /** There is more than was read. */
  isCut: boolean;
  /** There would be more, but for this. */
  brokenBy?: unknown;
}

export type Labels = Readonly<Record<string, string>>;

export interface LogOwner {
  taskRun: string;
  taskRunUid: string | undefined;
  pipelineRunUid: string | undefined;
  pod: string | undefined;
}

/** What is read; its path below `/apis` or `/api`. */
export const RESOURCES = {
  pipelineRuns: { group: 'tekton.dev/v1', plural: 'pipelineruns', kind: 'PipelineRun' },
  taskRuns: { group: 'tekton.dev/v1', plural: 'taskruns', kind: 'TaskRun' },
  pods: { group: 'v1', plural: 'pods', kind: 'Pod' },
  events: { group: 'v1', plural: 'events', kind: 'Event' },
  snapshots: { group: 'appstudio.redhat.com/v1alpha1', plural: 'snapshots', kind: 'Snapshot' },
  releases: { group: 'appstudio.redhat.com/v1alpha1', plural: 'releases', kind: 'Release' },
  scenarios: {
    group: 'appstudio.redhat.com/v1beta2',
    olderGroup: 'appstudio.redhat.com/v1beta1',
    plural: 'integrationtestscenarios',
    kind: 'IntegrationTestScenario',
  },
} as const satisfies Record<string, Resource>;

export interface Resource {
  readonly group: string;
  /** For clusters that do not know the other yet. */
  readonly olderGroup?: string;
  readonly plural: string;
  readonly kind: string;
}
