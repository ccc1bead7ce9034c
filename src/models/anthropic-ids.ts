import type { ToolCall } from '../agent/messages.ts';

export interface ToolUseIds {
  /** Gives the calls of the next turn their ids; true when these are the ones they have. */
  assign(calls: readonly ToolCall[]): boolean;
  /** The id of a call of that turn. */
  find(id: string): string;
}

/**
 * The API wants ids of certain letters, each once in the whole conversation; other providers do not care. The same
 * history gives the same ids each time, or its beginning would not be found in the cache.
 */
export function createToolUseIds(): ToolUseIds {
  const taken = new Set<string>();
  let ofTurn = new Map<string, string>();
  const take = (id: string): string => {
    const allowed = ALLOWED.test(id) ? id : id.replace(/[^a-zA-Z0-9_-]/g, '_') || 'call';
    let free = allowed;
    for (let n = 2; taken.has(free); n += 1) free = `${allowed}_${n}`;
    taken.add(free);
    return free;
  };
  return {
    assign(calls) {
      ofTurn = new Map(calls.map(({ id }) => [id, take(id)]));
      return calls.every(({ id }) => ofTurn.get(id) === id);
    },
    find: (id) => ofTurn.get(id) ?? id,
  };
}

const ALLOWED = /^[a-zA-Z0-9_-]+$/;
