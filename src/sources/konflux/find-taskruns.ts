import { NotFoundError } from '../../errors.ts';
import { messageOf } from './failures.ts';
import { type Finding, type Found, type FoundOne, findOne } from './find.ts';
import { findAll } from './find-all.ts';
import { KEYS } from './labels.ts';
import type { Scope } from './scope.ts';
import { TASK_RUNS } from './wanted.ts';
import type { PipelineRun, TaskRun } from './wire.ts';

const MAX_SINGLE = 50;

/** All task runs of a pipeline run: by label, then by the references it holds, then from inside of it. */
export async function findTaskRuns(
  scope: Scope,
  run: Found<PipelineRun>,
  signal: AbortSignal,
): Promise<Finding<TaskRun>> {
  const { name } = run.value.metadata;
  const finding = await findAll(scope, TASK_RUNS, [{ [KEYS.pipelineRun]: name }], signal);
  const known = new Set(finding.found.map(({ value }) => value.metadata.name));
  const missing = (run.value.status?.childReferences ?? [])
    .filter((child) => (child.kind ?? 'TaskRun') === 'TaskRun' && !known.has(child.name))
    .map((child) => child.name);
  const single = await Promise.all(
    missing.slice(0, MAX_SINGLE).map((child) => findSingle(scope, child, signal)),
  );
  const referred = single.flatMap((one) => one.found);
  const found = [...finding.found, ...referred.filter(({ isGhost }) => !isGhost)];
  const names = new Set(found.map(({ value }) => value.metadata.name));
  const [failure, ...others] = single.flatMap((one) => one.failure ?? []);
  const gap = others.length > 0 ? `${failure} (and ${others.length} more)` : failure;
  const cut = `PipelineRun ${name} (${missing.length} references without a label, ${MAX_SINGLE} looked up)`;
  return {
    ...finding,
    found: [...found, ...embeddedIn(run).filter((one) => !names.has(nameOf(one)))],
    gaps: [...finding.gaps, ...(gap === undefined ? [] : [gap])],
    ghosts: finding.ghosts + referred.filter(({ isGhost }) => isGhost).length,
    cut: [...finding.cut, ...(missing.length > MAX_SINGLE ? [cut] : [])],
  };
}

interface Single {
  found: FoundOne<TaskRun>[];
  failure?: string;
}

async function findSingle(scope: Scope, name: string, signal: AbortSignal): Promise<Single> {
  try {
    return { found: [await findOne(scope, TASK_RUNS, name, signal)] };
  } catch (error) {
    signal.throwIfAborted();
    // What is gone everywhere is shown as such in the tree; what could not be asked for is a gap.
    return error instanceof NotFoundError
      ? { found: [] }
      : { found: [], failure: `TaskRun ${name}: ${messageOf(error)}` };
  }
}

/** Data of before Tekton's v1. */
function embeddedIn(run: Found<PipelineRun>): Found<TaskRun>[] {
  return Object.entries(run.value.status?.taskRuns ?? {}).map(([name, { pipelineTaskName, status }]) => ({
    ...run,
    value: { metadata: { name, labels: { [KEYS.pipelineTask]: pipelineTaskName ?? name } }, status },
  }));
}

function nameOf({ value }: Found<TaskRun>): string {
  return value.metadata.name;
}
