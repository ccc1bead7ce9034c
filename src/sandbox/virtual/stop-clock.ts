/** Makes it the same time for ever in this process: for whoever asks what time it is, not for timers. */
export function stopClock(atMs: number): void {
  const { Date: RunningDate } = globalThis;
  globalThis.Date = class extends RunningDate {
    constructor(...given: [] | [number]) {
      super(...(given.length === 0 ? ([atMs] as const) : given));
    }
    static override now(): number {
      return atMs;
    }
  } as DateConstructor;
}
