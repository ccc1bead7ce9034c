import { z } from 'zod';
import { defineTool } from '../define-tool.ts';
import { toConditions } from './condition.ts';
import { type Found, toRemarks, type Wanted } from './find.ts';
import { findAll } from './find-all.ts';
import { KEYS, labelsOfCommit, read } from './labels.ts';
import { objectName } from './names.ts';
import type { Scope } from './scope.ts';
import { SNAPSHOTS } from './snapshots.ts';
import { RESOURCES } from './store.ts';
import { PIPELINE_RUNS } from './wanted.ts';
import { wireConditions, wireMetadata } from './wire.ts';

export function createListIntegrationTests(scope: Scope) {
  return defineTool({
    name: 'konflux_list_integration_tests',
    description:
      "The IntegrationTestScenarios of the applications that the head commit's runs and Snapshots belong to (of the namespace, when there are none): application, whether a failure blocks (optional: false), when it runs, where its pipeline comes from, conditions.",
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
        .filter((one) => own.names.size === 0 || own.names.has(one.application ?? ''))
        .filter((one) => application === undefined || one.application === application);
      const gaps = [...new Set([...finding.gaps, ...own.gaps])];
      return {
        kind: 'json',
        value: {
          ...(own.names.size > 0 && { applications: [...own.names] }),
          total: scenarios.length,
          scenarios,
          ...toRemarks({ ...finding, gaps }),
        },
        gaps,
      };
    },
  });
}

/** Those of the commit. A scenario does not say of which project it is, and others share the namespace. */
async function findApplications(scope: Scope, signal: AbortSignal) {
  const labels = labelsOfCommit(scope.sha);
  const [runs, snapshots] = await Promise.all([
    findAll(scope, PIPELINE_RUNS, labels, signal),
    findAll(scope, SNAPSHOTS, labels, signal),
  ]);
  const names = [
    ...runs.found.map(({ value }) => read(value.metadata, KEYS.application)),
    ...snapshots.found.map(({ value }) => value.spec?.application ?? read(value.metadata, KEYS.application)),
  ];
  return { names: new Set(names.filter((name) => name !== null)), gaps: [...runs.gaps, ...snapshots.gaps] };
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
