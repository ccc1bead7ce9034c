// The labels and annotations by which Konflux ties its objects to a commit, a merge request and a project.
import { isProjectAddress, type ProjectPlace, parseRepository } from '../project-address.ts';
import type { Labels } from './store.ts';
import type { Metadata } from './wire.ts';

/** Build runs carry the first, test runs and Snapshots copies under the second. */
const PREFIXES = ['pipelinesascode.tekton.dev', 'pac.test.appstudio.openshift.io'] as const;

/** Any of them will do: no label alone is on builds and tests. */
export function labelsOfCommit(sha: string): Labels[] {
  return PREFIXES.map((prefix) => ({ [`${prefix}/sha`]: toLabelValue(sha) }));
}

export function labelsOfMergeRequest(iid: number): Labels[] {
  return PREFIXES.map((prefix) => ({ [`${prefix}/pull-request`]: String(iid) }));
}

/** What Pipelines-as-Code says of the source, true values (annotations) before those of labels, which are cut. */
export function readSource(metadata: Metadata, key: string): string | undefined {
  const names = PREFIXES.map((prefix) => `${prefix}/${key}`);
  const found = names.map((name) => metadata.annotations?.[name] ?? metadata.labels?.[name]);
  return found.find((value) => value !== undefined && value !== '');
}

/** A value as Pipelines-as-Code writes it into a label: of a long one only the end stays. */
export function toLabelValue(value: string): string {
  const cut = value.length >= 63 ? value.slice(-62) : value;
  return cut
    .replace(/[\s_[\]-]+$/, '')
    .replace(/[/:]/g, '-')
    .replace(/\s/g, '_')
    .replace(/[[\]]/g, '__');
}

export interface ProjectOf extends ProjectPlace {
  project: { id: number; path: string };
}

/** Whether an object came from this project; null when it does not say. */
export function isOfProject(metadata: Metadata, place: ProjectOf): boolean | null {
  const { project } = place;
  const id = readSource(metadata, 'target-project-id');
  if (id !== undefined) return id === String(project.id);
  const url = readSource(metadata, 'repo-url');
  if (url !== undefined && parseRepository(url)) return isProjectAddress(url, place);
  const [org, repository] = [readSource(metadata, 'url-org'), readSource(metadata, 'url-repository')];
  if (org === undefined || repository === undefined) return null;
  const at = project.path.lastIndexOf('/');
  return isSameValue(org, project.path.slice(0, at)) && isSameValue(repository, project.path.slice(at + 1));
}

function isSameValue(found: string, value: string): boolean {
  return found === value || found.toLowerCase() === toLabelValue(value).toLowerCase();
}

export const KEYS = {
  application: 'appstudio.openshift.io/application',
  component: 'appstudio.openshift.io/component',
  snapshot: 'appstudio.openshift.io/snapshot',
  buildRun: 'appstudio.openshift.io/build-pipelinerun',
  type: 'pipelines.appstudio.openshift.io/type',
  scenario: 'test.appstudio.openshift.io/scenario',
  optional: 'test.appstudio.openshift.io/optional',
  snapshotType: 'test.appstudio.openshift.io/type',
  testStatus: 'test.appstudio.openshift.io/status',
  snapshotCreation: 'test.appstudio.openshift.io/create-snapshot-status',
  platform: 'build.appstudio.redhat.com/target-platform',
  pipelineRun: 'tekton.dev/pipelineRun',
  pipelineTask: 'tekton.dev/pipelineTask',
  pipeline: 'tekton.dev/pipeline',
  task: 'tekton.dev/task',
  signed: 'chains.tekton.dev/signed',
  record: 'results.tekton.dev/record',
} as const;

export function read({ annotations, labels }: Metadata, key: string): string | null {
  return annotations?.[key] ?? labels?.[key] ?? null;
}
