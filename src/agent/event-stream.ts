import type { AgentEvent } from './events.ts';

/** What happens in a run, in its order, for somebody who looks at one event after the other. */
export interface EventStream {
  /** Goes on at once. */
  report(event: AgentEvent): void;
  /** Goes on once it was looked at; never, if nobody looks any more. */
  tell(event: AgentEvent): Promise<void>;
  /** All that comes while the work is done, and what it comes to. */
  during<T>(work: Promise<T>): AsyncGenerator<AgentEvent, T>;
}

export function createEventStream(): EventStream {
  const waiting: { event: AgentEvent; onSeen?: () => void }[] = [];
  let wake = (): void => undefined;
  return {
    report(event) {
      waiting.push({ event });
      wake();
    },
    tell: (event) =>
      new Promise((onSeen) => {
        waiting.push({ event, onSeen });
        wake();
      }),
    async *during(work) {
      let isDone = false;
      const onEnd = (): void => {
        isDone = true;
        wake();
      };
      work.then(onEnd, onEnd);
      while (true) {
        const next = waiting.shift();
        if (next) {
          yield next.event;
          next.onSeen?.();
        } else if (isDone) return work;
        else {
          await new Promise<void>((resolve) => {
            wake = resolve;
          });
        }
      }
    },
  };
}
