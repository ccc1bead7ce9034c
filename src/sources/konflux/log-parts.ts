// Which containers of a task run have logs, and where the log of each still is.
import type { Readable } from 'node:stream';
import { NotFoundError } from '../../errors.ts';
import { joinFailures, messageOf } from './failures.ts';
import type { Found } from './find.ts';
import { KEYS, read } from './labels.ts';
import { findPod } from './pod.ts';
import type { LogOwner, Store } from './store.ts';
import type { TaskRun } from './wire.ts';

/** From the pod, as long as somebody has it; else from what the task run remembers. */
export async function listContainers(run: Found<TaskRun>, signal: AbortSignal): Promise<string[]> {
  const { status } = run.value;
  const steps = [...(status?.steps ?? []), ...(status?.sidecars ?? [])].map(
    ({ container, name }) => container ?? `step-${name}`,
  );
  if (steps.length > 0) return [...(await listFailedInits(run, signal)), ...steps];
  const planned = (status?.taskSpec?.steps ?? []).map(
    ({ name }, index) => `step-${name || `unnamed-${index}`}`,
  );
  if (planned.length > 0) return planned;
  return ((await findPod(run, signal)).pod?.spec?.containers ?? []).map(({ name }) => name);
}

/** Init containers are Tekton's own; their logs matter only when they are why nothing else ran. */
async function listFailedInits(run: Found<TaskRun>, signal: AbortSignal): Promise<string[]> {
  const reason = run.value.status?.conditions?.[0]?.reason ?? '';
  if (!reason.startsWith('InitContainer')) return [];
  const statuses = (await findPod(run, signal)).pod?.status?.initContainerStatuses ?? [];
  return statuses.filter(({ state }) => (state?.terminated?.exitCode ?? 0) !== 0).map(({ name }) => name);
}

export interface OpenLog {
  body: Readable;
  store: Store;
}

/** From the first place that has it. Throws NotFoundError when all say that there is none. */
export async function openLog(
  { value, place }: Found<TaskRun>,
  container: string | undefined,
  signal: AbortSignal,
): Promise<OpenLog> {
  const owner = toOwner(value);
  const kind = container === undefined ? 'by task run' : 'by container';
  const stores = place.stores.filter(({ logsAre }) => logsAre === kind);
  const refusals: { name: string; error: unknown }[] = [];
  for (const store of stores) {
    try {
      return { body: await store.openLog(owner, container, signal), store };
    } catch (error) {
      signal.throwIfAborted();
      refusals.push({ name: store.name, error });
    }
  }
  // Who could not be asked before who has none: it may be shown cut.
  const isNone = ({ error }: { error: unknown }) => Number(error instanceof NotFoundError);
  const told = refusals.toSorted((one, other) => isNone(one) - isNone(other));
  const said = told.map(({ name, error }) => `${name}: ${messageOf(error)}`);
  const message = said.join('; ') || `no place keeps logs ${kind}`;
  throw joinFailures(
    message,
    refusals.map(({ error }) => error),
  );
}

function toOwner({ metadata, status }: TaskRun): LogOwner {
  const owner = metadata.ownerReferences?.find(({ kind }) => kind === 'PipelineRun');
  const [, recorded] = /results\/([^/]+)\/records\//.exec(read(metadata, KEYS.record) ?? '') ?? [];
  return {
    taskRun: metadata.name,
    taskRunUid: metadata.uid ?? undefined,
    pipelineRunUid: recorded ?? owner?.uid ?? undefined,
    pod: status?.podName || undefined,
  };
}
