// A list from all places at once. Who could not be asked is a gap, not a failure, as long as somebody answered.
import { NotFoundError, PermanentError } from '../../errors.ts';
import { checkEach } from './check-each.ts';
import { messageOf } from './failures.ts';
import {
  type Failure,
  type Finding,
  type Found,
  type KubeObject,
  toError,
  toGaps,
  type Wanted,
} from './find.ts';
import { isOfProject } from './labels.ts';
import type { Place, Scope } from './scope.ts';
import type { Labels, Store } from './store.ts';

/** Those that have any of the labels, each once: the cluster's word counts before an archive's. */
export async function findAll<T extends KubeObject>(
  scope: Scope,
  wanted: Wanted<T>,
  anyOf: readonly Labels[],
  signal: AbortSignal,
): Promise<Finding<T>> {
  const answers = await Promise.all(
    scope.places.flatMap((place) =>
      place.stores
        .filter((store) => store.keeps(wanted.resource))
        .map(async (store) => ({ place, store, ...(await ask(store, wanted, anyOf, signal)) })),
    ),
  );
  const failures = answers.flatMap(({ failure }) => failure ?? []);
  if (failures.length === answers.length) throw toListError(toError(failures));
  const all = answers.flatMap(({ place, store, values }) => values.map((value) => ({ value, place, store })));
  const merged = uniqueByUid(all).filter(({ value }) => isOfProject(value.metadata, scope) !== false);
  const current = new Set(
    answers.filter(({ store, failure }) => store.kind === 'cluster' && !failure).map(({ place }) => place),
  );
  const found = merged.filter((one) => !isGhost(one, wanted, current));
  return {
    found,
    gaps: [...toGaps(failures), ...answers.flatMap(({ odd }) => odd)],
    cut: answers.flatMap(({ store, isCut }) => (isCut ? [store.name] : [])),
    ghosts: merged.length - found.length,
  };
}

/** A list is always there, if need be an empty one: who has none is not who we think. */
function toListError(error: Error): Error {
  if (!(error instanceof NotFoundError)) return error;
  return new PermanentError(
    `${error.message}. Check the addresses in sources.konflux: none of them knows such lists`,
    { cause: error },
  );
}

interface Answered<T> {
  values: T[];
  /** What was sent beside them and could not be read. */
  odd: string[];
  isCut: boolean;
  failure?: Failure;
}

async function ask<T>(
  store: Store,
  { resource, schema }: Wanted<T>,
  anyOf: readonly Labels[],
  signal: AbortSignal,
): Promise<Answered<T>> {
  try {
    const pages = await Promise.all(anyOf.map((labels) => store.list(resource, labels, signal)));
    const items = pages.flatMap((page) => page.items);
    const what = `one of the ${resource.plural}`;
    const { values, odd } = checkEach(schema, items, { who: store.name, what });
    const broken = pages.flatMap(({ items: read, brokenBy }) =>
      brokenBy === undefined ? [] : [`${store.name}, after the first ${read.length}: ${messageOf(brokenBy)}`],
    );
    return { values, odd: [...odd, ...broken], isCut: pages.some(({ isCut }) => isCut) };
  } catch (error) {
    signal.throwIfAborted();
    return { values: [], odd: [], isCut: false, failure: { store, error } };
  }
}

/** Of an archive, never finished there, and gone from a cluster that could be asked. */
function isGhost<T>(
  { value, store, place }: Found<T>,
  { isUnfinished = () => false }: Wanted<T>,
  current: ReadonlySet<Place>,
): boolean {
  return store.kind === 'archive' && isUnfinished(value) && current.has(place);
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
