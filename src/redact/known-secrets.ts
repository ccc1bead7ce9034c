import { isLongEnough, type Needle, toNeedles } from './own-secrets.ts';

/**
 * Of secrets that were told while the service runs, so much is remembered, and at least half of it: some hours of logins
 * that are renewed each hour. Each costs a little with every text that is looked through.
 */
const MAX_TOLD_CHARS = 32_768;

export interface KnownSecrets {
  /** What has to be looked for as well; null when something was forgotten, so that `needles` has to be asked. */
  add(secrets: readonly string[]): Needle[] | null;
  needles(): Needle[];
}

/** Those it begins with are never forgotten; of the others those that nobody has told for longest. */
export function createKnownSecrets(
  secrets: readonly string[],
  onTooShort: (count: number) => void = () => undefined,
): KnownSecrets {
  const always = new Map(secrets.map((secret) => [secret, toNeedles(secret)]));
  const told = new Map<string, Needle[]>();
  sayTooShort(always.keys());

  function sayTooShort(some: Iterable<string>): void {
    const count = [...some].filter((secret) => !isLongEnough(secret)).length;
    if (count > 0) onTooShort(count);
  }

  function forget(): boolean {
    let chars = [...told.keys()].reduce((sum, { length }) => sum + length, 0);
    if (chars <= MAX_TOLD_CHARS) return false;
    for (const secret of told.keys()) {
      // Not one by one: what is looked for has to be put together again.
      if (chars <= MAX_TOLD_CHARS / 2 || told.size === 1) break;
      told.delete(secret);
      chars -= secret.length;
    }
    return true;
  }

  return {
    add(secrets) {
      const some = [...new Set(secrets)].filter((secret) => secret !== '' && !always.has(secret));
      const fresh = some.filter((secret) => !told.has(secret));
      sayTooShort(fresh);
      for (const secret of some) {
        const needles = told.get(secret) ?? toNeedles(secret);
        told.delete(secret);
        told.set(secret, needles);
      }
      if (fresh.length === 0) return [];
      return forget() ? null : fresh.flatMap((secret) => told.get(secret) ?? []);
    },
    needles: () => [...always.values(), ...told.values()].flat(),
  };
}
