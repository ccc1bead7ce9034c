import type { AgentEvent } from './events.ts';

/** Where a run says what happens in it. */
export interface EventStream {
  /** Goes on at once. */
  report(event: AgentEvent): void;
  /** Goes on once it was looked at; never, if nobody looks any more. */
  tell(event: AgentEvent): Promise<void>;
  /** To be done when all was looked at, or nobody looks any more. */
  onLeft(act: () => void): void;
}

/** All that the work says while it is done, in its order and one after the other, and what it comes to. */
export async function* toEvents<T>(
  work: (stream: EventStream) => Promise<T>,
): AsyncGenerator<AgentEvent, T, undefined> {
  const waiting: { event: AgentEvent; onSeen?: () => void }[] = [];
  let leave = (): void => undefined;
  let wake = (): void => undefined;
  let isDone = false;
  const onEnd = (): void => {
    isDone = true;
    wake();
  };
  const working = work({
    report(event) {
      waiting.push({ event });
      wake();
    },
    tell: (event) =>
      new Promise((onSeen) => {
        waiting.push({ event, onSeen });
        wake();
      }),
    onLeft(act) {
      leave = act;
    },
  });
  working.then(onEnd, onEnd);
  try {
    while (true) {
      const next = waiting.shift();
      if (next) {
        yield next.event;
        next.onSeen?.();
      } else if (isDone) return await working;
      else {
        await new Promise<void>((resolve) => {
          wake = resolve;
        });
      }
    }
  } finally {
    leave();
  }
}
