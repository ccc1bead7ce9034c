import { ModelError } from '../agent/model.ts';

export interface CallInWriting {
  author: string;
  name: string;
  /** The answer ended at its limit. */
  isCutOff: boolean;
}

/** Parsed strictly, because a guessed argument would be executed. */
export function parseArguments(
  json: string,
  { author, name, isCutOff }: CallInWriting,
): Record<string, unknown> {
  let value: unknown;
  try {
    value = JSON.parse(json || '{}');
  } catch (cause) {
    // The arguments of a call that was cut off are never used; the call itself tells that it was.
    if (isCutOff) return {};
    throw new ModelError('retry', `${author}: the arguments of ${name} are not JSON`, { cause });
  }
  const isObject = typeof value === 'object' && value !== null && !Array.isArray(value);
  if (!isObject) throw new ModelError('retry', `${author}: the arguments of ${name} are not an object`);
  return value as Record<string, unknown>;
}
