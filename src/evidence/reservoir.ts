// What is kept of a log that flows by: all of a usual one; of a huge one its beginning, its end, and what stands out.

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
const MAX_BYTES = 4 * 1024 * 1024;
const HEAD_SHARE = 0.05;
const STANDING_OUT_SHARE = 0.3;
const LINE_END = 10;

/** Of the words that stand out, so many in a block are looked at. */
const MAX_LOOKS = 4;
/** Few words, since this is what all of a huge log is searched for; where one of the others stands, these are near. */
const STANDS_OUT = /error|fail/gi;

/** `maxBytes` is what is held at most. The same log gives the same pieces, in whatever chunks it comes. */
export function createReservoir(maxBytes = MAX_BYTES): Reservoir {
  const head: Block[] = [];
  const standingOut: Block[] = [];
  const tail: Block[] = [];
  const held = { head: 0, standingOut: 0, tail: 0 };
  const known = new Set<string>();
  /** Of blocks that were given up: memory that is used again needs no collecting. */
  const free: Buffer[] = [];
  let current: Buffer = Buffer.allocUnsafeSlow(BLOCK_BYTES);
  let filled = 0;
  let totalLines = 0;
  let totalBytes = 0;
  let blocks = 0;

  function endBlock(): void {
    const bytes = filled === BLOCK_BYTES ? current : Buffer.from(current.subarray(0, filled));
    keep({ bytes, at: blocks, linesBefore: totalLines });
    totalLines += countLines(bytes);
    totalBytes += filled;
    blocks += 1;
    current = free.pop() ?? Buffer.allocUnsafeSlow(BLOCK_BYTES);
    filled = 0;
  }

  function keep(block: Block): void {
    if (held.head < HEAD_SHARE * maxBytes) {
      head.push(block);
      held.head += block.bytes.length;
      return;
    }
    tail.push(block);
    held.tail += block.bytes.length;
    while (held.head + held.standingOut + held.tail > maxBytes) giveUpOldest();
  }

  function giveUpOldest(): void {
    const oldest = tail.shift();
    if (!oldest) return;
    held.tail -= oldest.bytes.length;
    if (held.standingOut >= STANDING_OUT_SHARE * maxBytes || !hasNews(oldest.bytes, known)) {
      free.push(oldest.bytes);
      return;
    }
    standingOut.push(oldest);
    held.standingOut += oldest.bytes.length;
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
      const endsLine = filled > 0 ? current[filled - 1] === LINE_END : endsInLine(tail.at(-1) ?? head.at(-1));
      if (filled > 0) endBlock();
      const pieces = [...head, ...standingOut, ...tail].map(({ bytes, at, linesBefore }, index, all) => ({
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
}

function endsInLine(block: Block | undefined): boolean {
  return block?.bytes.at(-1) === LINE_END;
}

function countLines(bytes: Buffer): number {
  let count = 0;
  for (let at = bytes.indexOf(LINE_END); at >= 0; at = bytes.indexOf(LINE_END, at + 1)) count += 1;
  return count;
}

/** Whether it has a telling word in surroundings that no block before had. */
function hasNews(bytes: Buffer, known: Set<string>): boolean {
  const text = bytes.toString('latin1');
  STANDS_OUT.lastIndex = 0;
  let isNew = false;
  for (let looks = 0; looks < MAX_LOOKS; looks += 1) {
    const found = STANDS_OUT.exec(text);
    if (!found) return isNew;
    const around = text.slice(Math.max(0, found.index - 24), found.index + 32).replace(/\d+/g, '0');
    if (known.has(around)) continue;
    known.add(around);
    isNew = true;
  }
  return isNew;
}
