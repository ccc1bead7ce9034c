import type { ProjectPlace } from '../project-address.ts';
import type { KubeStore } from './kube-store.ts';
import type { Store } from './store.ts';

/** What the job is about. It comes from the event and the configuration, never from the model. */
export interface Scope extends ProjectPlace {
  project: { id: number; path: string };
  mrIid: number;
  /** The commit it is about. */
  sha: string;
  places: readonly Place[];
}

/** The namespace of the project in one cluster. */
export interface Place {
  /** Of the cluster, in the configuration. */
  name: string;
  namespace: string;
  /** For links that people open. */
  uiUrl: string | undefined;
  /** In the order in which they are asked for one thing: the cluster, then archives. */
  stores: readonly Store[];
  cluster: KubeStore | undefined;
}

export function toRunUrl({ uiUrl, namespace }: Place, pipelineRun: string): string | null {
  return uiUrl === undefined ? null : `${uiUrl}/ns/${namespace}/pipelinerun/${pipelineRun}`;
}
