// The tasks of a pipeline run, what each waited for, and the way that led to a failure.
import { causesOfTaskRun } from './causes.ts';
import { isBad, type RunState, secondsBetween, stateOf, wordsOf } from './condition.ts';
import type { Found } from './find.ts';
import { KEYS, read } from './labels.ts';
import { withoutNulls } from './run-summary.ts';
import { findTestOutput } from './test-output.ts';
import type { PipelineRun, PipelineTask, TaskRun } from './wire.ts';

export interface TaskNode {
  task: string;
  taskrun: string | null;
  state: RunState | 'Skipped' | 'NotStarted';
  after: string[];
  started: string | null;
  seconds: number | null;
  causes: string[];
  [further: string]: unknown;
}

/** In the order in which they began; those that never did come last. */
export function buildTaskTree(
  { spec, status }: PipelineRun,
  taskRuns: readonly Found<TaskRun>[],
): TaskNode[] {
  const pipeline = status?.pipelineSpec ?? spec?.pipelineSpec;
  const tasks = [...(pipeline?.tasks ?? []), ...(pipeline?.finally ?? [])];
  const dependencies = new Map(tasks.map((task) => [task.name, dependenciesOf(task)]));
  const skipped = new Map((status?.skippedTasks ?? []).map(({ name, reason }) => [name, reason]));
  const ran = taskRuns.map(({ value }) => toNode(value, dependencies));
  const isThere = new Set(ran.map(({ task }) => task));
  const lost = (status?.childReferences ?? [])
    .filter(({ pipelineTaskName }) => pipelineTaskName && !isThere.has(pipelineTaskName))
    .map(({ name, pipelineTaskName, kind }) => ({
      ...toEmpty(pipelineTaskName ?? name, dependencies, 'Unknown'),
      taskrun: name,
      note: `the ${kind ?? 'TaskRun'} was not found in any place`,
    }));
  for (const { task } of lost) isThere.add(task);
  const silent = [...new Set([...tasks.map(({ name }) => name), ...skipped.keys()])]
    .filter((name) => !isThere.has(name))
    .map((name) => ({
      ...toEmpty(name, dependencies, skipped.has(name) ? 'Skipped' : 'NotStarted'),
      ...(skipped.get(name) && { reason: skipped.get(name) }),
    }));
  return [...ran.toSorted(byStart), ...lost, ...silent];
}

export function isFailing({ state, causes }: TaskNode): boolean {
  return causes.length > 0 || state === 'Failed' || state === 'TimedOut';
}

/** `clone (Succeeded, 12 s) → build (Failed, 80 s)`, for each task that failed. */
export function toFailingPaths(nodes: readonly TaskNode[]): string[] {
  const byTask = Map.groupBy(nodes, ({ task }) => task);
  const failing = nodes.filter(isFailing);
  const paths = failing.slice(0, MAX_PATHS).map((failed) => {
    const way = wayTo(failed, byTask).map(toStop);
    return (way.length > MAX_STOPS ? ['…', ...way.slice(-MAX_STOPS)] : way).join(' → ');
  });
  return failing.length > MAX_PATHS ? [...paths, `… and ${failing.length - MAX_PATHS} more`] : paths;
}

const MAX_PATHS = 50;
const MAX_STOPS = 50;

function toStop({ task, state, seconds }: TaskNode): string {
  return `${task} (${state}${seconds === null ? '' : `, ${seconds} s`})`;
}

/** Backwards, by what each task waited for last. */
function wayTo(node: TaskNode, byTask: ReadonlyMap<string, readonly TaskNode[]>): TaskNode[] {
  const way = new Set([node]);
  for (let current: TaskNode | undefined = node; current && way.size <= MAX_STOPS; ) {
    const before: TaskNode[] = current.after.flatMap((task) => byTask.get(task) ?? []);
    current = before.filter((one) => !way.has(one)).toSorted((a, b) => endOf(b) - endOf(a))[0];
    if (current) way.add(current);
  }
  return [...way].reverse();
}

function toNode({ metadata, status }: TaskRun, dependencies: ReadonlyMap<string, string[]>): TaskNode {
  const task = read(metadata, KEYS.pipelineTask) ?? metadata.name;
  const state = stateOf(status?.conditions);
  const check = findTestOutput(status?.results ?? status?.taskResults);
  return {
    ...toEmpty(task, dependencies, state),
    taskrun: metadata.name,
    started: status?.startTime ?? null,
    seconds: secondsBetween(status?.startTime, status?.completionTime),
    ...(state !== 'Succeeded' && wordsOf(status?.conditions)),
    ...withoutNulls({ platform: read(metadata, KEYS.platform) }),
    ...(check && { check }),
    causes: isBad(state) || state !== 'Succeeded' || check?.failed ? causesOfTaskRun(status) : [],
  };
}

function toEmpty(
  task: string,
  dependencies: ReadonlyMap<string, string[]>,
  state: TaskNode['state'],
): TaskNode {
  const after = dependencies.get(task) ?? [];
  return { task, taskrun: null, state, after, started: null, seconds: null, causes: [] };
}

function dependenciesOf({ runAfter, params, when }: PipelineTask): string[] {
  const references = JSON.stringify([params, when]).matchAll(/tasks\.([\w-]+)\.(?:results|outputs)/g);
  return [...new Set([...(runAfter ?? []), ...Array.from(references, ([, name = '']) => name)])];
}

function byStart(a: TaskNode, b: TaskNode): number {
  return (a.started ?? '9').localeCompare(b.started ?? '9');
}

function endOf({ started, seconds }: TaskNode): number {
  return (Date.parse(started ?? '') || 0) + (seconds ?? 0) * 1_000;
}
