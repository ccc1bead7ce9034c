import { Readable } from 'node:stream';
import { z } from 'zod';
import { NotFoundError, PermanentError } from '../../errors.ts';
import { defineTool } from '../define-tool.ts';
import { wordsOf } from './condition.ts';
import { joinFailures, messageOf } from './failures.ts';
import { type Found, findOne } from './find.ts';
import { listContainers, type OpenLog, openLog } from './log-parts.ts';
import { withSigns } from './log-signs.ts';
import { objectName } from './names.ts';
import type { Scope } from './scope.ts';
import { TASK_RUNS } from './wanted.ts';
import type { TaskRun } from './wire.ts';

export function createGetTaskRunLog(scope: Scope) {
  return defineTool({
    name: 'konflux_get_taskrun_log',
    description:
      'The logs of all steps and sidecars of a TaskRun, one after the other under a heading each, from the cluster or, when the pod is gone, from the archives. Large: fetch it into a file and search that.',
    schema: z.strictObject({
      taskrun: objectName('From konflux_get_pipelinerun or konflux_list_taskruns'),
      container: objectName('Only this one, such as step-build').optional(),
    }),
    async read({ taskrun, container }, signal) {
      const run = await findOne(scope, TASK_RUNS, taskrun, signal);
      const gaps: string[] = [];
      const log = await openTaskRunLog(run, { container, onGap: (gap) => gaps.push(gap) }, signal);
      const body = Readable.from(withSigns(log), { objectMode: false });
      return { kind: 'text', of: 'log', body, gaps };
    },
  });
}

export interface LogWanted {
  /** Only this one. */
  container: string | undefined;
  /** Hears of each log that could not be asked for; that there is none is an answer. */
  onGap(gap: string): void;
}

/** Throws when there is not a single log; one that is missing beside others is a line among them. */
export async function openTaskRunLog(
  run: Found<TaskRun>,
  wanted: LogWanted,
  signal: AbortSignal,
): Promise<AsyncGenerator<Buffer>> {
  const { container } = wanted;
  const containers = container === undefined ? await listContainers(run, signal) : [container];
  const missing: string[] = [];
  const failures: unknown[] = [];
  for (const [index, name] of containers.entries()) {
    try {
      const first = await openLog(run, name, signal);
      tellGaps(wanted, containers, failures);
      return joinLogs(run, missing, { first, name, rest: containers.slice(index + 1), wanted }, signal);
    } catch (error) {
      signal.throwIfAborted();
      failures.push(error);
      missing.push(toMissing(name, error));
    }
  }
  try {
    const { body, store } = await openLog(run, undefined, signal);
    return joinWhole(missing, body, store.name);
  } catch (error) {
    signal.throwIfAborted();
    throw toNoLog(run.value, [...failures, error]);
  }
}

interface Parts {
  first: OpenLog;
  name: string;
  rest: readonly string[];
  wanted: LogWanted;
}

async function* joinLogs(
  run: Found<TaskRun>,
  missing: readonly string[],
  { first, name, rest, wanted }: Parts,
  signal: AbortSignal,
): AsyncGenerator<Buffer> {
  for (const line of missing) yield Buffer.from(line);
  yield* toPart(name, first);
  for (const next of rest) {
    let part: OpenLog;
    try {
      part = await openLog(run, next, signal);
    } catch (error) {
      signal.throwIfAborted();
      tellGaps(wanted, [next], [error]);
      yield Buffer.from(toMissing(next, error));
      continue;
    }
    yield* toPart(next, part);
  }
}

function tellGaps({ onGap }: LogWanted, names: readonly string[], errors: readonly unknown[]): void {
  for (const [index, error] of errors.entries())
    if (!(error instanceof NotFoundError)) onGap(`the log of ${names[index]}: ${messageOf(error)}`);
}

async function* toPart(name: string, { body, store }: OpenLog): AsyncGenerator<Buffer> {
  yield Buffer.from(`===== ${name} (from ${store.name}) =====\n`);
  let last = 0x0a;
  for await (const chunk of body) {
    last = chunk.at(-1) ?? last;
    yield chunk;
  }
  if (last !== 0x0a) yield Buffer.from('\n');
}

async function* joinWhole(missing: readonly string[], body: Readable, from: string): AsyncGenerator<Buffer> {
  for (const line of missing) yield Buffer.from(line);
  yield Buffer.from(`===== all steps (from ${from}) =====\n`);
  for await (const chunk of body) yield chunk;
}

function toMissing(name: string, error: unknown): string {
  return `===== ${name}: no log (${messageOf(error)}) =====\n`;
}

/** A task run without a log has its reason in its condition, and that is what the reader needs. */
function toNoLog({ metadata, status }: TaskRun, failures: readonly unknown[]): Error {
  const { reason, message } = wordsOf(status?.conditions);
  const hadOne = (status?.steps ?? []).some(({ terminated }) => terminated?.startedAt);
  const what = hadOne ? 'a log once, which is gone' : 'no log: no step of it is known to have started';
  const words = `${metadata.name} has ${what} (its condition: ${reason}, ${message}). ${failures.map(messageOf).join('; ')}`;
  const error = joinFailures(words, failures);
  // What was there and is lost is a gap; what never was, is not.
  return hadOne && error instanceof NotFoundError ? new PermanentError(words, { cause: error }) : error;
}
