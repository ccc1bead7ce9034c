import { z } from 'zod';
import { NotFoundError } from '../../errors.ts';
import { defineTool } from '../define-tool.ts';
import { checkEach } from './check-each.ts';
import { toConditions } from './condition.ts';
import { messageOf } from './failures.ts';
import { type Found, findOne, GHOST } from './find.ts';
import { objectName } from './names.ts';
import { type ContainerStatuses, findPod, type Pod } from './pod.ts';
import type { Scope } from './scope.ts';
import { toStateSummary } from './step-summary.ts';
import { TASK_RUNS } from './wanted.ts';
import type { TaskRun } from './wire.ts';

export function createGetPodEvents(scope: Scope) {
  return defineTool({
    name: 'konflux_get_pod_events',
    description:
      "A TaskRun's pod: phase, conditions, every container's state, and the cluster's events about it (scheduling, pulling of images, evictions, OOM). For a TaskRun that never started, hung or was killed.",
    schema: z.strictObject({ taskrun: objectName('From konflux_get_pipelinerun or konflux_list_taskruns') }),
    async read({ taskrun }, signal) {
      const run = await findOne(scope, TASK_RUNS, taskrun, signal);
      const name = run.value.status?.podName;
      if (!name)
        throw new NotFoundError(`${taskrun} has no pod: it was never created; its condition says why`);
      const [found, events] = await Promise.all([findPod(run, signal), readEvents(run, name, signal)]);
      const pod = found.pod ? { ...fromPod(found.pod), found_in: found.foundIn } : { phase: 'gone' };
      const gaps = [...(found.pod ? [] : found.said), ...events.gaps];
      const remarks = [...(run.isGhost ? [GHOST] : []), ...gaps];
      return {
        kind: 'json',
        value: {
          taskrun,
          pod_name: name,
          ...pod,
          ...events.value,
          ...(remarks.length > 0 && { remarks }),
        },
        gaps,
      };
    },
  });
}

async function readEvents({ place }: Found<TaskRun>, pod: string, signal: AbortSignal) {
  if (!place.cluster) return { value: { events: [] }, gaps: [`${place.name}: no cluster to ask for events`] };
  try {
    const { items, isCut, brokenBy } = await place.cluster.listEvents(pod, signal);
    const { values, odd } = checkEach(wireEvent, items, { who: place.cluster.name, what: 'an event' });
    const events = values.map(fromEvent).toSorted((a, b) => (a.last ?? '').localeCompare(b.last ?? ''));
    const note = isCut ? 'Only the first events were read.' : EXPIRY;
    const broken = brokenBy === undefined ? [] : [`${place.cluster.name}: ${messageOf(brokenBy)}`];
    return {
      value: { events, ...((isCut || events.length === 0) && { note }) },
      gaps: [...odd, ...broken],
    };
  } catch (error) {
    signal.throwIfAborted();
    return { value: { events: [] }, gaps: [`${place.cluster.name}: ${messageOf(error)}`] };
  }
}

const EXPIRY = 'A cluster forgets events after about an hour, so that there are none proves nothing.';

function fromPod({ spec, status }: Pod) {
  const toContainers = (statuses: ContainerStatuses) =>
    (statuses ?? []).map(({ name, state }) => ({ container: name, ...toStateSummary(state ?? {}) }));
  return {
    phase: status?.phase ?? 'unknown',
    reason: status?.reason ?? null,
    message: status?.message ?? null,
    node: spec?.nodeName ?? null,
    conditions: toConditions(status?.conditions).filter(({ status: is }) => is !== 'True'),
    init_containers: toContainers(status?.initContainerStatuses),
    containers: toContainers(status?.containerStatuses),
  };
}

const wireEvent = z.object({
  type: z.string().nullish(),
  reason: z.string().nullish(),
  message: z.string().nullish(),
  note: z.string().nullish(),
  count: z.number().nullish(),
  firstTimestamp: z.string().nullish(),
  lastTimestamp: z.string().nullish(),
  eventTime: z.string().nullish(),
});

function fromEvent(event: z.infer<typeof wireEvent>) {
  return {
    type: event.type ?? null,
    reason: event.reason ?? null,
    message: event.message ?? event.note ?? null,
    count: event.count ?? 1,
    first: event.firstTimestamp ?? event.eventTime ?? null,
    last: event.lastTimestamp ?? event.eventTime ?? null,
  };
}
