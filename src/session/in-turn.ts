export type InTurn = <T>(key: string, work: () => Promise<T>) => Promise<T>;

/** What is asked for one key is done one after the other, in the order it was asked for, whatever fails. */
export function createTurns(): InTurn {
  const last = new Map<string, Promise<unknown>>();
  return async (key, work) => {
    const before = last.get(key) ?? Promise.resolve();
    const own = before.catch(() => undefined).then(work);
    last.set(key, own);
    try {
      return await own;
    } finally {
      if (last.get(key) === own) last.delete(key);
    }
  };
}
