/**
 * Who may be at work in a sandbox: commands one after the other and alone; files beside each other, but never beside a
 * command, with which everything else in the container ends.
 */
export interface Turns {
  /** Waits for everything that was asked for before. */
  alone<T>(work: () => Promise<T>): Promise<T>;
  /** Waits for the commands that were asked for before. The turn lasts until it is given back. */
  share(): Promise<() => void>;
}

export function createTurns(): Turns {
  let lastCommand: Promise<unknown> = Promise.resolve();
  const shared = new Set<Promise<void>>();

  return {
    alone(work) {
      const result = Promise.all([lastCommand, ...shared]).then(work);
      lastCommand = result.catch(() => undefined);
      return result;
    },
    async share() {
      const turn = Promise.withResolvers<void>();
      shared.add(turn.promise);
      await lastCommand;
      return () => {
        shared.delete(turn.promise);
        turn.resolve();
      };
    },
  };
}
