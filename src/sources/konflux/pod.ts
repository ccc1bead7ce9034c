import { z } from 'zod';
import { checkWire } from '../from-wire.ts';
import { messageOf } from './failures.ts';
import type { Found } from './find.ts';
import { RESOURCES } from './store.ts';
import { type TaskRun, wireConditions, wireContainerState } from './wire.ts';

export interface FoundPod {
  /** Null when it is gone everywhere, or was never created. */
  pod: Pod | null;
  foundIn: string | null;
  /** What those said who did not have it. */
  said: string[];
}

/** The pod of a task run, from the cluster or, when it is gone there, from an archive. */
export async function findPod({ value, place }: Found<TaskRun>, signal: AbortSignal): Promise<FoundPod> {
  const name = value.status?.podName;
  const said: string[] = [];
  for (const store of name ? place.stores.filter((one) => one.keeps(RESOURCES.pods)) : []) {
    try {
      const answer = await store.get(RESOURCES.pods, name ?? '', signal);
      const pod = checkWire(wirePod, answer, { who: store.name, what: `pod ${name}` });
      return { pod, foundIn: store.name, said };
    } catch (error) {
      signal.throwIfAborted();
      said.push(`${store.name}: ${messageOf(error)}`);
    }
  }
  return { pod: null, foundIn: null, said };
}

const wireStatuses = z.array(z.object({ name: z.string(), state: wireContainerState.nullish() })).nullish();

const wirePod = z.object({
  spec: z
    .object({
      nodeName: z.string().nullish(),
      containers: z.array(z.object({ name: z.string() })).nullish(),
    })
    .nullish(),
  status: z
    .object({
      phase: z.string().nullish(),
      reason: z.string().nullish(),
      message: z.string().nullish(),
      conditions: wireConditions,
      initContainerStatuses: wireStatuses,
      containerStatuses: wireStatuses,
    })
    .nullish(),
});

export type Pod = z.infer<typeof wirePod>;
export type ContainerStatuses = z.infer<typeof wireStatuses>;
