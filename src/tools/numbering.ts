import type { Sandbox } from '../sandbox/sandbox.ts';

export interface Numbering {
  /** A number that no file in the folder has and nobody was given; in the order of the calls. */
  next(): Promise<number>;
}

/**
 * Counts on from the files that are there. It looks each time: a resumed session brings files with it, and
 * commands write into the folder too. `pattern` catches the number in a name.
 */
export function createNumbering(sandbox: Sandbox, folder: string, pattern: RegExp): Numbering {
  let free = 0;
  let last: Promise<unknown> = Promise.resolve();
  const take = async (): Promise<number> => {
    for (const name of await sandbox.list(folder)) {
      const number = pattern.exec(name)?.[1];
      if (number !== undefined) free = Math.max(free, Number(number) + 1);
    }
    const given = free;
    free += 1;
    return given;
  };
  return {
    next() {
      const number = last.then(take);
      last = number.catch(() => undefined);
      return number;
    },
  };
}
