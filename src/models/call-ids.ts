import type { Message } from '../agent/messages.ts';

/**
 * A call without an id gets one from its position, so that a saved conversation stays the same. So does one whose id
 * another call of the same turn has: their results could not be told apart.
 */
export function createCallIds(
  history: readonly Message[],
): (given: string | undefined, index: number) => string {
  const taken = new Set(
    history.flatMap((one) => (one.role === 'assistant' ? one.toolCalls : [])).map(({ id }) => id),
  );
  const ofTurn = new Set<string>();
  return (given, index) => {
    if (given && !ofTurn.has(given)) {
      ofTurn.add(given);
      return given;
    }
    let id = `call_${history.length}_${index}`;
    // A compacted history may hold the id of a call that was once at this position.
    while (taken.has(id)) id += '_';
    return id;
  };
}
