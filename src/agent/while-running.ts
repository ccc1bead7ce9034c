import { untilAborted } from '../deadline.ts';
import type { AgentEvent } from './events.ts';

export type Report = (event: AgentEvent) => void;

/** What the work reports comes out while it runs, its result at the end; its end is not waited for once it is aborted. */
export async function* whileRunning<T>(
  signal: AbortSignal,
  work: (report: Report) => Promise<T>,
): AsyncGenerator<AgentEvent, T> {
  const waiting: AgentEvent[] = [];
  let wake = Promise.withResolvers<void>();
  let isDone = false;
  const report: Report = (event) => {
    waiting.push(event);
    wake.resolve();
  };
  const running = untilAborted(work(report), signal).finally(() => {
    isDone = true;
    wake.resolve();
  });
  // Whoever awaits it below hears of its failure; until then nobody does.
  running.catch(() => undefined);
  while (!isDone || waiting.length > 0) {
    await wake.promise;
    wake = Promise.withResolvers();
    if (isDone) wake.resolve();
    yield* waiting.splice(0);
  }
  return running;
}
