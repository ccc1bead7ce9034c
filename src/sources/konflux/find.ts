// One object, wherever it still is. Who could not be asked is a gap, not a failure, as long as somebody has it.
import type { z } from 'zod';
import { NotFoundError, PermanentError } from '../../errors.ts';
import { checkWire } from '../from-wire.ts';
import { joinFailures, messageOf } from './failures.ts';
import { isOfProject } from './labels.ts';
import type { Place, Scope } from './scope.ts';
import type { Resource, Store } from './store.ts';
import type { Metadata } from './wire.ts';

export interface Found<T> {
  value: T;
  place: Place;
  store: Store;
}

export interface FoundOne<T> extends Found<T> {
  gaps: string[];
  /** As in a Finding, but shown, since it was asked for by name. */
  isGhost: boolean;
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

export interface KubeObject {
  metadata: Metadata;
}

/** The first that has it. Throws NotFoundError when all say that it is not there. */
export async function findOne<T extends KubeObject>(
  scope: Scope,
  { resource, schema, isUnfinished = () => false }: Wanted<T>,
  name: string,
  signal: AbortSignal,
): Promise<FoundOne<T>> {
  const failures: Failure[] = [];
  for (const place of scope.places) {
    let isGone = false;
    for (const store of place.stores.filter((one) => one.keeps(resource))) {
      try {
        const answer = await store.get(resource, name, signal);
        const value = checkWire(schema, answer, { who: store.name, what: `${resource.kind} ${name}` });
        if (isOfProject(value.metadata, scope) === false)
          throw new PermanentError(`${resource.kind} ${name} belongs to another project`);
        const isGhost = isGone && store.kind === 'archive' && isUnfinished(value);
        return { value, place, store, gaps: toGaps(failures), isGhost };
      } catch (error) {
        signal.throwIfAborted();
        if (!(error instanceof NotFoundError)) failures.push({ store, error });
        else if (store.kind === 'cluster') isGone = true;
      }
    }
  }
  if (failures.length > 0) throw toError(failures);
  const asked = scope.places.flatMap(({ stores }) => stores.map((store) => store.name)).join(', ');
  throw new NotFoundError(`There is no ${resource.kind} ${name} (asked: ${asked})`);
}

/** For the answer: what the model should know of how the list came about. */
export function toRemarks({ gaps, cut, ghosts, isGhost }: Remarkable): { remarks?: string[] } {
  const remarks = [
    ...(isGhost ? [GHOST] : []),
    ...gaps.map((gap) => `Not reached, so something may be missing: ${gap}`),
    ...cut.map((who) => `${who} has more than was read; these are only the first.`),
    ...(ghosts > 0
      ? [`${ghosts} more in the archive never finished there and are gone from the cluster; left out.`]
      : []),
  ];
  return remarks.length > 0 ? { remarks } : {};
}

interface Remarkable extends Omit<Finding<unknown>, 'found'> {
  /** Of the object whose list it is. */
  isGhost?: boolean;
}

export const GHOST =
  'The archive never saw the end of this, and it is gone from the cluster: it is not running any more, whatever its state says.';

export interface Failure {
  store: Store;
  error: unknown;
}

export function toGaps(failures: readonly Failure[]): string[] {
  return failures.map(({ store, error }) => `${store.name}: ${messageOf(error)}`);
}

export function toError(failures: readonly Failure[]): Error {
  return joinFailures(
    toGaps(failures).join('; '),
    failures.map(({ error }) => error),
  );
}
