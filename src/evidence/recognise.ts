import { RECOGNISERS, type Recogniser } from './recognisers.ts';

const NOTHING: readonly Recogniser[] = [];

/** All that know a line of this kind. */
export function recognise(text: string): readonly Recogniser[] {
  if (text === '') return NOTHING;
  const found = RECOGNISERS.filter(([, , pattern]) => pattern.test(text));
  return found.length === 0 ? NOTHING : found;
}

/** It speaks of what went wrong; the others say that all is well. */
export function isSign([, strength]: Recogniser): boolean {
  return strength > 0;
}

export function strengthOf(found: readonly Recogniser[]): number {
  return found.reduce((sum, [, strength]) => sum + strength, 0);
}
