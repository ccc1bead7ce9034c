import { secondsBetween, stateOf, wordsOf } from './condition.ts';
import type { Found } from './find.ts';
import { KEYS, read, readSource } from './labels.ts';
import { toRunUrl } from './scope.ts';
import { findTestOutput } from './test-output.ts';
import type { PipelineRun } from './wire.ts';

/** A pipeline run in a few lines: what it is of, and what became of it. */
export function toRunSummary({ value, place, store }: Found<PipelineRun>) {
  const { metadata, status } = value;
  const check = findTestOutput(status?.results ?? status?.pipelineResults);
  return {
    pipelinerun: metadata.name,
    type: read(metadata, KEYS.type),
    state: stateOf(status?.conditions),
    ...wordsOf(status?.conditions),
    ...(check && { check }),
    pipeline: readSource(metadata, 'original-prname') ?? read(metadata, KEYS.pipeline),
    application: read(metadata, KEYS.application),
    component: read(metadata, KEYS.component),
    ...withoutNulls({
      scenario: read(metadata, KEYS.scenario),
      snapshot: read(metadata, KEYS.snapshot),
      platform: read(metadata, KEYS.platform),
      snapshot_creation: read(metadata, KEYS.snapshotCreation),
    }),
    event: readSource(metadata, 'event-type') ?? null,
    sha: readSource(metadata, 'sha') ?? null,
    created: metadata.creationTimestamp ?? null,
    started: status?.startTime ?? null,
    finished: status?.completionTime ?? null,
    seconds: secondsBetween(status?.startTime, status?.completionTime),
    found_in: store.name,
    namespace: place.namespace,
    url: toRunUrl(place, metadata.name),
  };
}

export function withoutNulls<T extends Record<string, unknown>>(fields: T): Partial<T> {
  const present = Object.entries(fields).filter(([, value]) => value !== null && value !== undefined);
  return Object.fromEntries(present) as Partial<T>;
}
