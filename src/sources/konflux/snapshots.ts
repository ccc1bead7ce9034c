import { z } from 'zod';
import { defineTool } from '../define-tool.ts';
import { toConditions } from './condition.ts';
import { type Found, toRemarks, type Wanted } from './find.ts';
import { findAll } from './find-all.ts';
import { isOfProject, KEYS, labelsOfCommit, labelsOfMergeRequest, read, readSource } from './labels.ts';
import { ofWhat } from './names.ts';
import type { Scope } from './scope.ts';
import { RESOURCES } from './store.ts';
import { wireConditions, wireMetadata } from './wire.ts';

export function createListSnapshots(scope: Scope) {
  return defineTool({
    name: 'konflux_list_snapshots',
    description:
      'The Snapshots (sets of built images) that Konflux made of the commit of this job or of the merge request, newest first: images, the build they came from, the state of each integration test, conditions.',
    schema: z.strictObject({ of: ofWhat }),
    async read({ of = 'commit' }, signal) {
      const labels = of === 'commit' ? labelsOfCommit(scope.sha) : labelsOfMergeRequest(scope.mrIid);
      const finding = await findAll(scope, SNAPSHOTS, labels, signal);
      // Every project of the namespace may have a merge request of that number.
      const own = finding.found.filter(
        ({ value }) => of === 'commit' || isOfProject(value.metadata, scope) === true,
      );
      const snapshots = own.map(fromSnapshot).toSorted((a, b) => b.created.localeCompare(a.created));
      return {
        kind: 'json',
        value: { total: snapshots.length, snapshots, ...toRemarks(finding) },
        gaps: finding.gaps,
      };
    },
  });
}

const wireSnapshot = z.object({
  metadata: wireMetadata,
  spec: z
    .object({
      application: z.string().nullish(),
      components: z
        .array(
          z.object({
            name: z.string(),
            containerImage: z.string().nullish(),
            source: z
              .object({
                git: z.object({ url: z.string().nullish(), revision: z.string().nullish() }).nullish(),
              })
              .nullish(),
          }),
        )
        .nullish(),
    })
    .nullish(),
  status: z.object({ conditions: wireConditions }).nullish(),
});

type Snapshot = z.infer<typeof wireSnapshot>;

export const SNAPSHOTS: Wanted<Snapshot> = { resource: RESOURCES.snapshots, schema: wireSnapshot };

function fromSnapshot({ value: { metadata, spec, status }, store }: Found<Snapshot>) {
  return {
    snapshot: metadata.name,
    type: read(metadata, KEYS.snapshotType),
    application: spec?.application ?? read(metadata, KEYS.application),
    component: read(metadata, KEYS.component),
    build_pipelinerun: read(metadata, KEYS.buildRun),
    sha: readSource(metadata, 'sha') ?? null,
    created: metadata.creationTimestamp ?? '',
    integration_tests: readTestStatus(read(metadata, KEYS.testStatus)),
    conditions: toConditions(status?.conditions),
    components: (spec?.components ?? []).map(({ name, containerImage, source }) => ({
      name,
      image: containerImage ?? null,
      git: source?.git?.url ?? null,
      revision: source?.git?.revision ?? null,
    })),
    found_in: store.name,
  };
}

const wireTests = z.array(
  z.object({
    scenario: z.string(),
    status: z.string(),
    details: z.string().nullish(),
    startTime: z.string().nullish(),
    completionTime: z.string().nullish(),
    testPipelineRunName: z.string().nullish(),
  }),
);

/** An annotation with JSON in it; one that can not be read is shown as it is. */
function readTestStatus(text: string | null) {
  if (text === null) return [];
  let value: unknown = text;
  try {
    value = JSON.parse(text);
  } catch {
    return text;
  }
  const tests = wireTests.safeParse(value);
  if (!tests.success) return text;
  return tests.data.map(({ scenario, status, details, testPipelineRunName, startTime, completionTime }) => ({
    scenario,
    status,
    details: details ?? null,
    pipelinerun: testPipelineRunName ?? null,
    started: startTime ?? null,
    finished: completionTime ?? null,
  }));
}
