import { z } from 'zod';
import { defineTool } from '../define-tool.ts';
import { toConditions } from './condition.ts';
import { type Found, toRemarks, type Wanted } from './find.ts';
import { findAll } from './find-all.ts';
import { KEYS, read } from './labels.ts';
import { objectName } from './names.ts';
import type { Scope } from './scope.ts';
import { RESOURCES } from './store.ts';
import { wireConditions, wireMetadata } from './wire.ts';

export function createListIntegrationTests(scope: Scope) {
  return defineTool({
    name: 'konflux_list_integration_tests',
    description:
      'The IntegrationTestScenarios of the namespace: application, whether a failure blocks (optional: false), when it runs, where its pipeline comes from, conditions.',
    schema: z.strictObject({
      application: objectName('Only of this one; the runs and Snapshots name theirs').optional(),
    }),
    async read({ application }, signal) {
      const finding = await findAll(scope, SCENARIOS, [{}], signal);
      const scenarios = finding.found
        .map(fromScenario)
        .filter((one) => application === undefined || one.application === application);
      return {
        kind: 'json',
        value: { total: scenarios.length, scenarios, ...toRemarks(finding) },
        gaps: finding.gaps,
      };
    },
  });
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
