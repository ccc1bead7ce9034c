// What is kept of a log that flows by: all of a usual one; of a huge one its beginning, its end, and what stands out.
import { kindOf } from './templates.ts';

/** A run of bytes as they stood in the log. */
export interface Piece {
  bytes: Buffer;
  /** How many line ends come before it. */
  linesBefore: number;
  /** Nothing is missing between the piece before and this one. */
  followsOn: boolean;
}

export interface Reservoir {
  add(chunk: Uint8Array): void;
  finish(): { pieces: Piece[]; totalLines: number; totalBytes: number };
}

const BLOCK_BYTES = 64 * 1024;
/** Of bytes, and what each line needs in memory besides; about 4 MB of a usual log. */
const MAX_COST = 6 * 1024 * 1024;
const LINE_COST = 48;
const HEAD_SHARE = 0.05;
const STANDING_OUT_SHARE = 0.4;
const LINE_END = 10;

/** Two words only, since all of a huge log is searched for them: most others stand near one of these, not all do. */
const STANDS_OUT = /error|fail/gi;
/** So many finds are looked at wherever they are; of a log that has more, one in each stripe. */
const MAX_LOOKS = 80_000;
const STRIPE = 16 * 1024;
const MAX_AROUND = 160;

/** `maxCost` bounds what is held. The same log gives the same pieces, in whatever chunks it comes. */
export function createReservoir(maxCost = MAX_COST): Reservoir {
  const head: Block[] = [];
  let standingOut: Block[] = [];
  const tail: Block[] = [];
  const held = { head: 0, standingOut: 0, tail: 0 };
  const news = createNews();
  /** Of blocks that were given up: memory that is used again needs no collecting. */
  const free: Buffer[] = [];
  let current: Buffer = Buffer.allocUnsafeSlow(BLOCK_BYTES);
  let filled = 0;
  let totalLines = 0;
  let totalBytes = 0;
  let blocks = 0;

  function endBlock(): void {
    const bytes = filled === BLOCK_BYTES ? current : Buffer.from(current.subarray(0, filled));
    const lines = countLines(bytes);
    keep({ bytes, at: blocks, linesBefore: totalLines, cost: bytes.length + LINE_COST * lines });
    totalLines += lines;
    totalBytes += filled;
    blocks += 1;
    current = free.pop() ?? Buffer.allocUnsafeSlow(BLOCK_BYTES);
    filled = 0;
  }

  function keep(block: Block): void {
    if (held.head < HEAD_SHARE * maxCost) {
      head.push(block);
      held.head += block.cost;
      return;
    }
    tail.push(block);
    held.tail += block.cost;
    while (tail.length > 1 && held.head + held.standingOut + held.tail > maxCost) giveUpOldest();
  }

  function giveUpOldest(): void {
    const oldest = tail.shift();
    if (!oldest) return;
    held.tail -= oldest.cost;
    if (!news.isIn(oldest.bytes)) {
      free.push(oldest.bytes);
      return;
    }
    standingOut.push(oldest);
    held.standingOut += oldest.cost;
    if (held.standingOut > STANDING_OUT_SHARE * maxCost) thinOut();
  }

  /** Every other one goes, so that what is left is from all over the log. */
  function thinOut(): void {
    free.push(...standingOut.filter((_, index) => index % 2 === 1).map(({ bytes }) => bytes));
    standingOut = standingOut.filter((_, index) => index % 2 === 0);
    held.standingOut = standingOut.reduce((sum, { cost }) => sum + cost, 0);
  }

  return {
    add(chunk) {
      for (let from = 0; from < chunk.length; ) {
        const taken = Math.min(chunk.length - from, BLOCK_BYTES - filled);
        current.set(chunk.subarray(from, from + taken), filled);
        filled += taken;
        from += taken;
        if (filled === BLOCK_BYTES) endBlock();
      }
    },
    finish() {
      if (filled > 0) endBlock();
      const all = [...head, ...standingOut, ...tail];
      const endsLine = all.at(-1)?.bytes.at(-1) === LINE_END;
      const pieces = all.map(({ bytes, at, linesBefore }, index) => ({
        bytes,
        linesBefore,
        followsOn: index === 0 ? at === 0 : all[index - 1]?.at === at - 1,
      }));
      return { pieces, totalLines: totalLines + (endsLine || totalBytes === 0 ? 0 : 1), totalBytes };
    },
  };
}

interface Block {
  bytes: Buffer;
  at: number;
  linesBefore: number;
  cost: number;
}

function countLines(bytes: Buffer): number {
  let count = 0;
  // Where line ends are rare, the quickest is to jump from one to the next.
  if (countIn(bytes, SAMPLE_BYTES) > MANY_ENDS) return countIn(bytes, bytes.length);
  for (let at = bytes.indexOf(LINE_END); at >= 0; at = bytes.indexOf(LINE_END, at + 1)) count += 1;
  return count;
}

const SAMPLE_BYTES = 256;
const MANY_ENDS = 25;

function countIn(bytes: Buffer, length: number): number {
  let count = 0;
  for (let at = 0; at < Math.min(length, bytes.length); at += 1) if (bytes[at] === LINE_END) count += 1;
  return count;
}

/** Whether a block has a telling word in a kind of line that no block before had. */
function createNews() {
  const known = new Set<number>();
  let looks = 0;
  return {
    isIn(bytes: Buffer): boolean {
      const text = bytes.toString('latin1');
      let isNew = false;
      STANDS_OUT.lastIndex = 0;
      for (let found = STANDS_OUT.exec(text); found; found = STANDS_OUT.exec(text)) {
        looks += 1;
        const start = Math.max(text.lastIndexOf('\n', found.index) + 1, found.index - MAX_AROUND);
        const lineEnd = text.indexOf('\n', found.index);
        const end = Math.min(lineEnd < 0 ? text.length : lineEnd, found.index + MAX_AROUND);
        const kind = kindOf(text.slice(start, end));
        isNew ||= !known.has(kind);
        known.add(kind);
        STANDS_OUT.lastIndex = looks < MAX_LOOKS ? end : Math.ceil((found.index + 1) / STRIPE) * STRIPE;
      }
      return isNew;
    },
  };
}
