import { untilAborted } from '../deadline.ts';
import type { AgentEvent } from './events.ts';

export type Report = (event: AgentEvent) => void;

/** Its end is not waited for once it is aborted, and what it reports afterwards nobody hears. */
export async function whileRunning<T>(
  { report, signal }: { report: Report; signal: AbortSignal },
  work: (report: Report) => Promise<T>,
): Promise<T> {
  let isOver = false;
  try {
    return await untilAborted(
      work((event) => isOver || report(event)),
      signal,
    );
  } finally {
    isOver = true;
  }
}
