import { endOfPiece, normalize, type Piece } from './quote-pattern.ts';

/** Where the pieces of a quote stand, in their order. */
export interface Match {
  lines: number[];
  /** Whether the number before a piece had to be left out to find it. */
  isNumbered: boolean[];
}

export interface Wanted {
  pieces: readonly Piece[];
  /** Of all places the one nearest to this line; the first one unless told. */
  near: number | null;
}

export interface Matcher {
  /** The next line of a text. */
  add(line: string): void;
  lineCount(): number;
  /** In the order of what is wanted; null where it was not found. */
  matches(): (Match | null)[];
}

/**
 * Finds the pieces of each quote in order, with anything between, in a text that flows by. For each number of pieces
 * found so far it remembers the place that begins last: so what is found is as close together as it can be.
 */
export function createMatcher(wanted: readonly Wanted[]): Matcher {
  const searches = wanted.map(createSearch);
  let number = 0;
  return {
    add(raw) {
      number += 1;
      const line = normalize(raw);
      if (line === '') return;
      for (const search of searches) search.add(line, number);
    },
    lineCount: () => number,
    matches: () => searches.map(({ best }) => best()),
  };
}

function createSearch({ pieces, near }: Wanted) {
  const partial: (Match | undefined)[] = [NOTHING];
  let best: Match | null = null;
  return {
    best: () => best,
    add(line: string, number: number): void {
      if (pieces.length === 0 || (best && near === null)) return;
      for (let found = Math.min(partial.length, pieces.length) - 1; found >= 0; found -= 1) {
        const before = partial[found];
        const match = before && extend(before, found, line, number);
        if (!match) continue;
        if (match.lines.length === pieces.length) best = closer(best, match, near);
        else partial[match.lines.length] = match;
      }
    },
  };

  /** Parts of one quoted line stand in one line, or in some that follow each other. */
  function isTooFar(before: Match, found: number, number: number): boolean {
    const isSameLine = found > 0 && pieces[found]?.at === pieces[found - 1]?.at;
    return isSameLine && number - (before.lines.at(-1) ?? number) > MAX_APART;
  }

  /** By as many pieces as the line has; null when it has not even one. */
  function extend(before: Match, found: number, line: string, number: number): Match | null {
    if (isTooFar(before, found, number)) return null;
    const lines = [...before.lines];
    const isNumbered = [...before.isNumbered];
    let from = 0;
    for (let index = found; index < pieces.length; index += 1) {
      const texts = pieces[index]?.texts ?? [];
      const ends = texts.map((text) => endOfPiece(line, text, from));
      const which = ends.findIndex((end) => end !== -1);
      if (which === -1) break;
      from = ends[which] ?? from;
      lines.push(number);
      isNumbered.push(which > 0);
    }
    return lines.length > found ? { lines, isNumbered } : null;
  }
}

const MAX_APART = 3;
const NOTHING: Match = { lines: [], isNumbered: [] };

function closer(best: Match | null, match: Match, near: number | null): Match {
  if (!best || near === null) return best ?? match;
  return distance(match, near) < distance(best, near) ? match : best;
}

/** Of the line from what was found; 0 when it is within. */
export function distance({ lines }: Match, line: number): number {
  const [first = 0] = lines;
  const last = lines.at(-1) ?? first;
  return Math.max(0, first - line, line - last);
}
