// A cluster's API, and KubeArchive, which has the same paths on another host and a few habits of its own.
import { z } from 'zod';
import { NotFoundError } from '../../errors.ts';
import type { HttpReader } from '../../http/http-reader.ts';
import { checkWire } from '../from-wire.ts';
import { PAGE_SIZE, readPages } from './pages.ts';
import { type Labels, type Page, RESOURCES, type Resource, type Store } from './store.ts';

export interface KubeStore extends Store {
  /** Of one pod; only a cluster has them, and for an hour. */
  listEvents(pod: string, signal: AbortSignal): Promise<Page>;
}

export function createKubeStore(reader: HttpReader, namespace: string, kind: Store['kind']): KubeStore {
  const { who } = reader;
  const pathOf = ({ group, plural }: Resource): string =>
    `${group.includes('/') ? 'apis' : 'api'}/${group}/namespaces/${namespace}/${plural}`;

  const listVersion = (resource: Resource, query: Record<string, string>, signal: AbortSignal) =>
    readPages(async (token, pages) => {
      const asked = { ...query, limit: PAGE_SIZE, continue: token };
      return fromList(await reader.getJson(pathOf(resource), asked, signal, pages), who, resource);
    }, signal);

  /** A list is always there, if need be an empty one, unless nobody knows the version. */
  const listAll = async (resource: Resource, query: Record<string, string>, signal: AbortSignal) => {
    const { olderGroup } = resource;
    try {
      return await listVersion(resource, query, signal);
    } catch (error) {
      if (!(error instanceof NotFoundError) || olderGroup === undefined) throw error;
      return listVersion({ ...resource, group: olderGroup }, query, signal);
    }
  };

  return {
    name: who,
    kind,
    logsAre: 'by container',
    keeps: () => true,
    get: (resource, name, signal) => reader.getJson(`${pathOf(resource)}/${encode(name)}`, {}, signal),
    list: (resource, labels, signal) => listAll(resource, toSelector(labels), signal),
    listEvents: (pod, signal) =>
      listAll(
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
function fromList(answer: unknown, who: string, resource: Resource) {
  const what = `the list of ${resource.plural}`;
  const list = checkWire(wireList, answer, { who, what });
  if (list.kind === resource.kind) return { items: [answer], next: undefined };
  if (list.items === undefined) checkWire(wireList.required({ items: true }), answer, { who, what });
  return { items: list.items ?? [], next: list.metadata?.continue || undefined };
}

function encode(name: string): string {
  return encodeURIComponent(name);
}
