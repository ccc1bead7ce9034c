import { expect, test } from 'vitest';
import { type EventStream, toEvents } from '../../../src/agent/event-stream.ts';
import type { AgentEvent } from '../../../src/agent/events.ts';

const saved = (messages: number): AgentEvent => ({ type: 'checkpoint', messages });

test('what is reported and told comes in its order, then what the work came to', async () => {
  const events = toEvents(async ({ report, tell }) => {
    report(saved(1));
    report(saved(2));
    await tell(saved(3));
    setImmediate(() => report(saved(4)));
    await new Promise(setImmediate);
    report(saved(5));
    return 'done';
  });
  const seen: unknown[] = [];
  for (let next = await events.next(); ; next = await events.next()) {
    seen.push(next.value);
    if (next.done) break;
  }
  expect(seen).toEqual([saved(1), saved(2), saved(3), saved(4), saved(5), 'done']);
});

test('work that tells something waits until it was looked at; work that reports does not', async () => {
  const done: string[] = [];
  const events = toEvents(async ({ report, tell }) => {
    report(saved(1));
    done.push('reported');
    await tell(saved(2));
    done.push('told');
  });
  await events.next();
  expect(done).toEqual(['reported']);
  await events.next();
  await new Promise(setImmediate);
  expect(done).toEqual(['reported']);
  await events.next();
  expect(done).toEqual(['reported', 'told']);
});

test('work that fails does so after its last event', async () => {
  const events = toEvents(async ({ report }) => {
    report(saved(1));
    throw new Error('it broke');
  });
  expect(await events.next()).toEqual({ done: false, value: saved(1) });
  await expect(events.next()).rejects.toThrow('it broke');
});

test.each<[string, (events: ReturnType<typeof toEvents>) => Promise<unknown>]>([
  ['leaves', (events) => events.return(undefined)],
  ['fails', (events) => events.throw(new Error('a watcher broke')).catch(() => undefined)],
])(
  'work that goes on when whoever looks %s is told, and its own failure is nobody’s',
  async (_how, leave) => {
    const left = Promise.withResolvers<void>();
    const work = async ({ report, onLeft }: EventStream): Promise<void> => {
      onLeft(left.resolve);
      report(saved(1));
      await left.promise;
      throw new Error('given up');
    };
    const events = toEvents(work);
    await events.next();
    await leave(events);
    await left.promise;
    expect(await events.next()).toEqual({ done: true, value: undefined });
  },
);
