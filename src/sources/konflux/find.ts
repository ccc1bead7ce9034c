// One object or a list of them, wherever they still are. What could not be asked is a gap, not a failure, as long as
// somebody answered.
import type { z } from 'zod';
import { NotFoundError, PermanentError } from '../../errors.ts';
import { checkWire } from '../from-wire.ts';
import { joinFailures, messageOf } from './failures.ts';
import { isOfProject } from './labels.ts';
import type { Place, Scope } from './scope.ts';
import type { Labels, Resource, Store } from './store.ts';
import type { Metadata } from './wire.ts';

export interface Found<T> {
  value: T;
  place: Place;
  store: Store;
}

export interface Finding<T> {
  found: Found<T>[];
  /** Who could not be asked, and why. */
  gaps: string[];
  /** Who was asked for more than is read at once. */
  cut: string[];
  /** Of an archive, and never finished there: the end was missed. */
  ghosts: number;
}

export interface Wanted<T> {
  resource: Resource;
  schema: z.ZodType<T>;
  /** An archive keeps what it saw last: what it saw running, and the cluster has no more, has ended since. */
  isUnfinished?: (value: T) => boolean;
}

interface KubeObject {
  metadata: Metadata;
}

/** The first that has it. Throws NotFoundError when all say that it is not there. */
export async function findOne<T extends KubeObject>(
  { places, project }: Scope,
  { resource, schema }: Wanted<T>,
  name: string,
  signal: AbortSignal,
): Promise<Found<T> & { gaps: string[] }> {
  const failures: Failure[] = [];
  for (const place of places) {
    for (const store of place.stores.filter((one) => one.keeps(resource))) {
      try {
        const answer = await store.get(resource, name, signal);
        const value = checkWire(schema, answer, { who: store.name, what: `${resource.kind} ${name}` });
        if (isOfProject(value.metadata, project) === false)
          throw new PermanentError(`${resource.kind} ${name} belongs to another project`);
        return { value, place, store, gaps: toGaps(failures) };
      } catch (error) {
        signal.throwIfAborted();
        if (!(error instanceof NotFoundError)) failures.push({ store, error });
      }
    }
  }
  if (failures.length > 0) throw toError(failures);
  const asked = places.flatMap(({ stores }) => stores.map((store) => store.name)).join(', ');
  throw new NotFoundError(`There is no ${resource.kind} ${name} (asked: ${asked})`);
}

/** Those that have any of the labels, each once: the cluster's word counts before an archive's. */
export async function findAll<T extends KubeObject>(
  scope: Scope,
  { resource, schema, isUnfinished = () => false }: Wanted<T>,
  anyOf: readonly Labels[],
  signal: AbortSignal,
): Promise<Finding<T>> {
  const asked = scope.places.flatMap((place) =>
    place.stores.filter((one) => one.keeps(resource)).map((store) => ({ place, store })),
  );
  const answers = await Promise.all(
    asked.map(async ({ place, store }) => {
      try {
        const pages = await Promise.all(anyOf.map((labels) => store.list(resource, labels, signal)));
        const what = `one of the ${resource.plural}`;
        const values = pages.flatMap(({ items }) =>
          items.map((item) => checkWire(schema, item, { who: store.name, what })),
        );
        return { place, store, values, isCut: pages.some(({ isCut }) => isCut) };
      } catch (error) {
        signal.throwIfAborted();
        return { place, store, failure: { store, error } };
      }
    }),
  );
  const failures = answers.flatMap(({ failure }) => failure ?? []);
  if (failures.length === asked.length) throw toError(failures);
  const all = answers.flatMap(({ place, store, values = [] }) =>
    values.map((value) => ({ value, place, store })),
  );
  const current = new Set(
    answers.filter(({ store, failure }) => store.kind === 'cluster' && !failure).map(({ place }) => place),
  );
  const merged = uniqueByUid(all).filter(({ value }) => isOfProject(value.metadata, scope.project) !== false);
  const isGhost = ({ value, store, place }: Found<T>) =>
    store.kind === 'archive' && isUnfinished(value) && current.has(place);
  const found = merged.filter((one) => !isGhost(one));
  return {
    found,
    gaps: toGaps(failures),
    cut: answers.flatMap(({ store, isCut }) => (isCut ? [store.name] : [])),
    ghosts: merged.length - found.length,
  };
}

/** For the answer: what the model should know of how the list came about. */
export function toRemarks({ gaps, cut, ghosts }: Omit<Finding<unknown>, 'found'>): { remarks?: string[] } {
  const remarks = [
    ...gaps.map((gap) => `Not reached, so something may be missing: ${gap}`),
    ...cut.map((who) => `${who} has more than was read; these are only the first.`),
    ...(ghosts > 0
      ? [`${ghosts} more in the archive never finished there and are gone from the cluster; left out.`]
      : []),
  ];
  return remarks.length > 0 ? { remarks } : {};
}

interface Failure {
  store: Store;
  error: unknown;
}

function uniqueByUid<T extends KubeObject>(all: readonly Found<T>[]): Found<T>[] {
  const byUid = new Map<string, Found<T>>();
  for (const one of all) {
    const { uid, name } = one.value.metadata;
    const key = uid ?? `${one.place.name}/${name}`;
    if (!byUid.has(key)) byUid.set(key, one);
  }
  return [...byUid.values()];
}

function toGaps(failures: readonly Failure[]): string[] {
  return failures.map(({ store, error }) => `${store.name}: ${messageOf(error)}`);
}

function toError(failures: readonly Failure[]): Error {
  return joinFailures(
    toGaps(failures).join('; '),
    failures.map(({ error }) => error),
  );
}
