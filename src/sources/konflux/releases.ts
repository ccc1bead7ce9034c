import { z } from 'zod';
import { defineTool } from '../define-tool.ts';
import { toConditions } from './condition.ts';
import { type Found, findOne, toRemarks, type Wanted } from './find.ts';
import { findAll } from './find-all.ts';
import { objectName } from './names.ts';
import type { Scope } from './scope.ts';
import { SNAPSHOTS } from './snapshots.ts';
import { RESOURCES } from './store.ts';
import { wireConditions, wireMetadata } from './wire.ts';

export function createListReleases(scope: Scope) {
  return defineTool({
    name: 'konflux_list_releases',
    description:
      'The Releases of a Snapshot: plan, target, conditions with their messages, the PipelineRuns that process it. Those in another namespace than this one can not be read.',
    schema: z.strictObject({ snapshot: objectName('From konflux_list_snapshots') }),
    async read({ snapshot }, signal) {
      // A Release does not say of which project it is; its Snapshot does.
      const { gaps } = await findOne(scope, SNAPSHOTS, snapshot, signal);
      // No label names the Snapshot of a Release.
      const all = await findAll(scope, RELEASES, [{}], signal);
      const finding = { ...all, gaps: [...new Set([...gaps, ...all.gaps])] };
      const releases = finding.found
        .filter(({ value }) => value.spec?.snapshot === snapshot)
        .map(fromRelease);
      return {
        kind: 'json',
        value: { snapshot, total: releases.length, releases, ...toRemarks(finding) },
        gaps: finding.gaps,
      };
    },
  });
}

const wireProcessing = z
  .object({
    pipelineRun: z.string().nullish(),
    startTime: z.string().nullish(),
    completionTime: z.string().nullish(),
  })
  .nullish();

const wireRelease = z.object({
  metadata: wireMetadata,
  spec: z.object({ snapshot: z.string().nullish(), releasePlan: z.string().nullish() }).nullish(),
  status: z
    .object({
      conditions: wireConditions,
      target: z.string().nullish(),
      startTime: z.string().nullish(),
      completionTime: z.string().nullish(),
      tenantCollectorsProcessing: wireProcessing,
      tenantCollectorProcessing: wireProcessing,
      managedCollectorsProcessing: wireProcessing,
      tenantProcessing: wireProcessing,
      managedProcessing: wireProcessing,
      finalProcessing: wireProcessing,
    })
    .nullish(),
});

type Release = z.infer<typeof wireRelease>;

const RELEASES: Wanted<Release> = { resource: RESOURCES.releases, schema: wireRelease };

function fromRelease({ value: { metadata, spec, status }, place, store }: Found<Release>) {
  const processing = Object.entries(status ?? {}).flatMap(([key, part]) => {
    if (!key.endsWith('Processing') || typeof part !== 'object' || part === null || !('pipelineRun' in part))
      return [];
    const [namespace = '', pipelinerun = ''] = (part.pipelineRun ?? '').split('/');
    if (pipelinerun === '') return [];
    const { startTime, completionTime } = part;
    return [
      {
        stage: key.replace(/Processing$/, ''),
        pipelinerun,
        started: startTime ?? null,
        finished: completionTime ?? null,
        ...(namespace !== place.namespace && { in_other_namespace: namespace }),
      },
    ];
  });
  return {
    release: metadata.name,
    plan: spec?.releasePlan ?? null,
    target: status?.target ?? null,
    started: status?.startTime ?? null,
    finished: status?.completionTime ?? null,
    conditions: toConditions(status?.conditions),
    processing,
    found_in: store.name,
  };
}
