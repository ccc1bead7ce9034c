/** Answers whether it may be done now: so many at once, and then so many in each millisecond. */
export function createPace(
  { burst, perMs }: { burst: number; perMs: number },
  nowMs: () => number = READ_CLOCK,
): () => boolean {
  let credit = burst;
  let lastMs = nowMs();
  return () => {
    const now = nowMs();
    credit = Math.min(burst, credit + (now - lastMs) * perMs);
    lastMs = now;
    if (credit < 1) return false;
    credit -= 1;
    return true;
  };
}

// Taken early: while a command runs its shell hides the clock.
const READ_CLOCK = performance.now.bind(performance);
