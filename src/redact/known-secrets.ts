import type { Learn } from '../learn.ts';
import { isLongEnough, type Needle, toNeedles } from './own-secrets.ts';

/**
 * Of secrets that others have replaced, so much is remembered, and at least half of it: some hours of logins that are
 * renewed each hour. Each costs a little with every text that is looked through.
 */
const MAX_FORMER_CHARS = 32_768;

export interface KnownSecrets {
  needles(): Needle[];
  /** Of somebody who gets secrets while the service runs. What is told last stays known; what it replaces, for a while. */
  openHolder(): Learn;
}

export interface KnownSecretsOptions {
  /** Never forgotten. */
  secrets: readonly string[];
  onTooShort: (count: number) => void;
  /** Hears what has to be looked for as well; null when something was forgotten, so that `needles` has to be asked. */
  onChange: (more: readonly Needle[] | null) => void;
}

export function createKnownSecrets({ secrets, onTooShort, onChange }: KnownSecretsOptions): KnownSecrets {
  const always = toKnown(secrets);
  const held = new Map<Learn, Known>();
  const former: Known = new Map();
  sayTooShort(secrets);

  function sayTooShort(some: readonly string[]): void {
    const count = some.filter((secret) => !isLongEnough(secret)).length;
    if (count > 0) onTooShort(count);
  }

  function all(): Known {
    return new Map([...always, ...former, ...[...held.values()].flatMap((one) => [...one])]);
  }

  function forget(): boolean {
    let chars = [...former.keys()].reduce((sum, { length }) => sum + length, 0);
    if (chars <= MAX_FORMER_CHARS) return false;
    for (const secret of former.keys()) {
      // Not one by one: what is looked for has to be put together again.
      if (chars <= MAX_FORMER_CHARS / 2 || former.size === 1) break;
      former.delete(secret);
      chars -= secret.length;
    }
    return true;
  }

  return {
    needles: () => [...all().values()].flat(),
    openHolder() {
      const learn: Learn = (secrets) => {
        const known = all();
        const some = [...new Set(secrets)].filter((secret) => secret !== '' && !always.has(secret));
        const fresh = some.filter((secret) => !known.has(secret));
        sayTooShort(fresh);
        const now: Known = new Map(some.map((secret) => [secret, known.get(secret) ?? toNeedles(secret)]));
        for (const [secret, needles] of held.get(learn) ?? [])
          if (!now.has(secret)) former.set(secret, needles);
        for (const secret of some) former.delete(secret);
        held.set(learn, now);
        if (forget()) onChange(null);
        else if (fresh.length > 0) onChange(fresh.flatMap((secret) => now.get(secret) ?? []));
      };
      return learn;
    },
  };
}

type Known = Map<string, Needle[]>;

function toKnown(secrets: readonly string[]): Known {
  return new Map(secrets.map((secret) => [secret, toNeedles(secret)]));
}
