import { untilAborted, withDeadline } from '../deadline.ts';
import { type Clock, TimeUpError } from './clock.ts';
import { fireAfterTool, type Hooks, type RunView } from './hooks.ts';
import type { ToolCall, ToolMessage } from './messages.ts';
import { type Toolbox, type ToolOutcome, toContent } from './toolbox.ts';
import { type Report, whileRunning } from './while-running.ts';

const MAX_PARALLEL = 6;
/** For a call to say what it has done when its time is over: a part of its time, so that the last turn has enough. */
const LAST_WORDS = { share: 0.05, minMs: 20, maxMs: 500 };

export interface ToolRun {
  toolbox: Toolbox;
  hooks: readonly Hooks[];
  signal: AbortSignal;
  clock: Clock;
  report: Report;
  view: (report: RunView['report']) => RunView;
}

/**
 * All calls of a turn: those that only read together, commands one after the other, results in the calls' order.
 * When the time to work is over, what is not done is given up; what is done counts.
 */
export async function runTools(run: ToolRun, calls: readonly ToolCall[]): Promise<ToolMessage[]> {
  return whileRunning({ report: run.report, signal: run.clock.endSignal }, async (report) => {
    const results: ToolMessage[] = [];
    let last: Promise<unknown> = Promise.resolve();
    const inOrder = (call: ToolCall): Promise<ToolMessage> => {
      const running = runTool(run, call, { report, before: last });
      last = running.catch(() => undefined);
      return running;
    };
    for (const batch of toBatches(run.toolbox, calls)) results.push(...(await runTogether(batch, inOrder)));
    return results;
  });
}

/** A command waits for what was asked before it, and what comes after waits for the command. */
function toBatches(toolbox: Toolbox, calls: readonly ToolCall[]): ToolCall[][] {
  const batches: ToolCall[][] = [];
  let isOpen = false;
  for (const call of calls) {
    const isParallel = toolbox.isParallel(call.name);
    if (isParallel && isOpen) batches.at(-1)?.push(call);
    else batches.push([call]);
    isOpen = isParallel;
  }
  return batches;
}

/** When one fails, no further ones are begun, and those under way come to their end first. */
async function runTogether<T, R>(items: readonly T[], work: (item: T) => Promise<R>): Promise<R[]> {
  const [first] = items;
  if (first !== undefined && items.length === 1) return [await work(first)];
  const results: R[] = [];
  const waiting = items.entries();
  let hasFailed = false;
  const next = async (): Promise<void> => {
    for (const [index, item] of waiting) {
      if (hasFailed) return;
      try {
        results[index] = await work(item);
      } catch (error) {
        hasFailed = true;
        throw error;
      }
    }
  };
  const settled = await Promise.allSettled(
    Array.from({ length: Math.min(MAX_PARALLEL, items.length) }, next),
  );
  for (const one of settled) if (one.status === 'rejected') throw one.reason;
  return results;
}

/** Hooks hear of it after those of the calls before it: which of them ends first must not show. */
async function runTool(
  { toolbox, hooks, signal, view }: ToolRun,
  call: ToolCall,
  { report, before }: { report: RunView['report']; before: Promise<unknown> },
): Promise<ToolMessage> {
  report({ type: 'tool-started', call });
  const start = performance.now();
  const onProgress = (text: string): void => report({ type: 'tool-progress', call, text });
  const executed = await inTime(signal, async () => {
    signal.throwIfAborted();
    return toolbox.execute(call, { signal, onProgress });
  });
  const durationMs = Math.round(performance.now() - start);
  await before;
  const outcome = await inTime(signal, () => fireAfterTool(hooks, call, executed, view(report)));
  const { result, isError } = outcome;
  report({ type: 'tool-finished', call, isError, result, durationMs });
  return toMessage(call, outcome);
}

function toMessage({ id, name }: ToolCall, outcome: ToolOutcome): ToolMessage {
  const { isError, isSourced, files = [] } = outcome;
  return {
    role: 'tool',
    toolCallId: id,
    name,
    content: toContent(outcome),
    isError,
    ...(isSourced && !isError && { isSourced: true }),
    ...(files.length > 0 && { files: [...files] }),
  };
}

async function inTime(signal: AbortSignal, execute: () => Promise<ToolOutcome>): Promise<ToolOutcome> {
  const start = performance.now();
  const executing = execute();
  try {
    return await untilAborted(executing, signal);
  } catch (error) {
    if (!isTimeUp(signal)) throw error;
  }
  const { share, minMs, maxMs } = LAST_WORDS;
  const waitMs = Math.max(minMs, Math.min(maxMs, share * (performance.now() - start)));
  try {
    return await withDeadline(waitMs, 'last words', executing);
  } catch {
    return { result: { error: 'Given up: the time for this run is over.' }, isError: true };
  }
}

function isTimeUp({ reason }: AbortSignal): boolean {
  return reason instanceof TimeUpError;
}
