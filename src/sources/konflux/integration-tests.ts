import { z } from 'zod';
import { defineTool } from '../define-tool.ts';
import { toConditions } from './condition.ts';
import { type Found, type KubeObject, toRemarks, type Wanted } from './find.ts';
import { findAll } from './find-all.ts';
import { isOfProject, KEYS, labelsOfCommit, labelsOfMergeRequest, read } from './labels.ts';
import { objectName } from './names.ts';
import type { Scope } from './scope.ts';
import { SNAPSHOTS } from './snapshots.ts';
import { type Labels, RESOURCES } from './store.ts';
import { PIPELINE_RUNS } from './wanted.ts';
import { wireConditions, wireMetadata } from './wire.ts';

export function createListIntegrationTests(scope: Scope) {
  return defineTool({
    name: 'konflux_list_integration_tests',
    description:
      'The IntegrationTestScenarios of the applications that the runs and Snapshots of this commit, or else of the merge request, belong to: application, whether a failure blocks (optional: false), when it runs, where its pipeline comes from, conditions.',
    schema: z.strictObject({
      application: objectName('Only of this one; the runs and Snapshots name theirs').optional(),
    }),
    async read({ application }, signal) {
      const [finding, own] = await Promise.all([
        findAll(scope, SCENARIOS, [{}], signal),
        findApplications(scope, signal),
      ]);
      const scenarios = finding.found
        .map(fromScenario)
        .filter((one) => own.names.has(one.application ?? ''))
        .filter((one) => application === undefined || one.application === application);
      const gaps = [...new Set([...finding.gaps, ...own.gaps])];
      return {
        kind: 'json',
        value: {
          applications: [...own.names],
          total: scenarios.length,
          scenarios,
          ...(own.names.size === 0 && { note: NO_APPLICATION }),
          ...toRemarks({ ...finding, gaps, cut: [...new Set([...finding.cut, ...own.cut])] }),
        },
        gaps,
      };
    },
  });
}

const NO_APPLICATION =
  'No run and no Snapshot of this merge request was found, so it is not known which applications of the namespace are of this project, and none is shown.';

/** A scenario does not say of which project it is, and others share the namespace: its runs and Snapshots do. */
async function findApplications(scope: Scope, signal: AbortSignal): Promise<Applications> {
  const ofCommit = await readApplications(scope, labelsOfCommit(scope.sha), () => true, signal);
  if (ofCommit.names.size > 0) return ofCommit;
  // Every project of the namespace may have a merge request of that number.
  const isOwn = ({ metadata }: KubeObject) => isOfProject(metadata, scope) === true;
  const ofMergeRequest = await readApplications(scope, labelsOfMergeRequest(scope.mrIid), isOwn, signal);
  return {
    names: ofMergeRequest.names,
    gaps: [...ofCommit.gaps, ...ofMergeRequest.gaps],
    cut: [...ofCommit.cut, ...ofMergeRequest.cut],
  };
}

interface Applications {
  names: Set<string>;
  gaps: string[];
  /** Who has more runs or Snapshots than were read. */
  cut: string[];
}

async function readApplications(
  scope: Scope,
  labels: readonly Labels[],
  isOwn: (value: KubeObject) => boolean,
  signal: AbortSignal,
): Promise<Applications> {
  const [runs, snapshots] = await Promise.all([
    findAll(scope, PIPELINE_RUNS, labels, signal),
    findAll(scope, SNAPSHOTS, labels, signal),
  ]);
  const names = [
    ...runs.found
      .filter(({ value }) => isOwn(value))
      .map(({ value }) => read(value.metadata, KEYS.application)),
    ...snapshots.found
      .filter(({ value }) => isOwn(value))
      .map(({ value }) => value.spec?.application ?? read(value.metadata, KEYS.application)),
  ];
  return {
    names: new Set(names.filter((name) => name !== null)),
    gaps: [...runs.gaps, ...snapshots.gaps],
    cut: [...runs.cut, ...snapshots.cut],
  };
}

const wireScenario = z.object({
  metadata: wireMetadata,
  spec: z
    .object({
      application: z.string().nullish(),
      contexts: z.array(z.object({ name: z.string() })).nullish(),
      resolverRef: z
        .object({
          resolver: z.string().nullish(),
          params: z.array(z.object({ name: z.string(), value: z.unknown().optional() })).nullish(),
        })
        .nullish(),
    })
    .nullish(),
  status: z.object({ conditions: wireConditions }).nullish(),
});

type Scenario = z.infer<typeof wireScenario>;

const SCENARIOS: Wanted<Scenario> = { resource: RESOURCES.scenarios, schema: wireScenario };

function fromScenario({ value: { metadata, spec, status }, store }: Found<Scenario>) {
  const { resolver, params } = spec?.resolverRef ?? {};
  return {
    scenario: metadata.name,
    application: spec?.application ?? null,
    optional: read(metadata, KEYS.optional) === 'true',
    contexts: (spec?.contexts ?? []).map(({ name }) => name),
    pipeline: {
      resolver: resolver ?? null,
      ...Object.fromEntries((params ?? []).map(({ name, value }) => [name, value])),
    },
    conditions: toConditions(status?.conditions),
    found_in: store.name,
  };
}
