// A cluster's API, and KubeArchive, which has the same paths on another host and a few habits of its own.
import { z } from 'zod';
import { NotFoundError } from '../../errors.ts';
import { checkWire } from '../from-wire.ts';
import type { HttpReader } from '../http/http-reader.ts';
import {
  type Labels,
  MAX_PAGES,
  PAGE_SIZE,
  type Page,
  RESOURCES,
  type Resource,
  type Store,
} from './store.ts';

export interface KubeStore extends Store {
  /** Of one pod; only a cluster has them, and for an hour. */
  listEvents(pod: string, signal: AbortSignal): Promise<Page>;
}

export function createKubeStore(reader: HttpReader, namespace: string, kind: Store['kind']): KubeStore {
  const { who } = reader;
  const pathOf = ({ group, plural }: Resource): string =>
    `${group.includes('/') ? 'apis' : 'api'}/${group}/namespaces/${namespace}/${plural}`;

  async function readPages(resource: Resource, query: Record<string, string>, signal: AbortSignal) {
    const items: unknown[] = [];
    let next = '';
    for (let page = 0; page < MAX_PAGES; page += 1) {
      const asked = { ...query, limit: PAGE_SIZE, ...(next !== '' && { continue: next }) };
      const list = fromList(await reader.getJson(pathOf(resource), asked, signal), who, resource);
      items.push(...list.items);
      next = list.next;
      if (next === '') return { items, isCut: false };
    }
    return { items, isCut: true };
  }

  return {
    name: who,
    kind,
    logsAre: 'by container',
    keeps: () => true,
    get: (resource, name, signal) => reader.getJson(`${pathOf(resource)}/${encode(name)}`, {}, signal),
    list: (resource, labels, signal) => readPages(resource, toSelector(labels), signal),
    listEvents: (pod, signal) =>
      readPages(
        RESOURCES.events,
        { fieldSelector: `involvedObject.kind=Pod,involvedObject.name=${pod}` },
        signal,
      ),
    async openLog({ pod, taskRun }, container, signal) {
      const open = (resource: Resource, name: string) =>
        reader.open(`${pathOf(resource)}/${encode(name)}/log`, { container }, signal);
      if (kind === 'cluster') {
        if (!pod) throw new NotFoundError(`${taskRun} has no pod in ${who}`);
        return open(RESOURCES.pods, pod);
      }
      // An archive finds the pod of a task run by itself, also when it never saw the pod under its name.
      if (!pod) return open(RESOURCES.taskRuns, taskRun);
      return open(RESOURCES.pods, pod).catch((error) => {
        if (error instanceof NotFoundError) return open(RESOURCES.taskRuns, taskRun);
        throw error;
      });
    },
  };
}

function toSelector(labels: Labels): Record<string, string> {
  const wanted = Object.entries(labels).map(([key, value]) => `${key}=${value}`);
  return wanted.length > 0 ? { labelSelector: wanted.join(',') } : {};
}

const wireList = z.object({
  kind: z.string().optional(),
  // KubeArchive says null where it found nothing.
  items: z.array(z.unknown()).nullish(),
  metadata: z.object({ continue: z.string().nullish() }).nullish(),
});

/** A list, or the one object that KubeArchive answers with when a question fits a single one. */
function fromList(answer: unknown, who: string, resource: Resource): { items: unknown[]; next: string } {
  const what = `the list of ${resource.plural}`;
  const list = checkWire(wireList, answer, { who, what });
  if (list.kind === resource.kind) return { items: [answer], next: '' };
  if (list.items === undefined) checkWire(wireList.required({ items: true }), answer, { who, what });
  return { items: list.items ?? [], next: list.metadata?.continue ?? '' };
}

function encode(name: string): string {
  return encodeURIComponent(name);
}
