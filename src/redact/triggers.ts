import { FOLDED, isDiffSign, skipGap } from './bytes.ts';
import { HEX_SEPARATORS, type Needle, toSpellings } from './own-secrets.ts';
import type { Rule } from './rule.ts';

/** What to look at where four characters of a table stand in a row, gaps not counted. */
export interface Suspicion {
  /** Secrets that begin so. */
  needles: Needle[];
  /** The four are so far behind the beginning of the rule's word. */
  rules: { rule: Rule; behind: number }[];
}

export interface Trigger {
  /** Of the first of the four. */
  from: number;
  /** Of the last of the four. */
  at: number;
  suspicion: Suspicion;
}

export interface TriggerTable {
  /** In their order; from `from` on. */
  find(bytes: Uint8Array, from: number): Trigger[];
  /** For these, too, from now on. */
  look(needles: readonly Needle[]): void;
}

const GRAM = 4;
const HASH_BITS = 18;

/** One pass over the bytes for everything that is looked for, so that ordinary text costs little more than reading it. */
export function createTriggerTable(rules: readonly Rule[]): TriggerTable {
  const suspicions = new Map<number, Suspicion>();
  const hashes = new Uint8Array(1 << HASH_BITS);
  const at = (gram: string): Suspicion => {
    const key = toKey(gram);
    const known = suspicions.get(key) ?? { needles: [], rules: [] };
    suspicions.set(key, known);
    hashes[hashOf(key)] = 1;
    return known;
  };
  for (const rule of rules) {
    for (const word of rule.words) {
      const behind = rarest(word);
      at(word.slice(behind, behind + GRAM).toLowerCase()).rules.push({ rule, behind });
    }
  }

  function readAcross({ key, places, sign }: Across, index: number, folded: number): Read {
    if (index <= sign) return { across: { key, places, sign } };
    const [from, second, third] = places;
    const next: Across = { key: (key << 8) | folded, places: [second, third, index], sign };
    const suspicion = suspicions.get(next.key);
    return {
      across: second > sign ? null : next,
      ...(suspicion && { trigger: { from, at: index, suspicion } }),
    };
  }

  return {
    look(needles) {
      for (const needle of needles) for (const gram of firstGrams(needle)) at(gram).needles.push(needle);
    },
    find(bytes, from) {
      const found: Trigger[] = [];
      const { length } = bytes;
      let key = 0;
      let [first, second, third, fourth] = [from, from, from, from];
      let across: Across | null = null;
      for (let index = from; index < length; index += 1) {
        const byte = bytes[index] as number;
        const folded = FOLDED[byte] as number;
        if (folded === 0) {
          if (byte === SPACE) continue;
          index = skipGap(bytes, index) - 1;
          if (isDiffSign(bytes, index + 1))
            across = { key, places: [second, third, fourth], sign: index + 1 };
          continue;
        }
        if (across !== null) {
          const read = readAcross(across, index, folded);
          if (read.trigger) found.push(read.trigger);
          across = read.across;
        }
        key = (key << 8) | folded;
        first = second;
        second = third;
        third = fourth;
        fourth = index;
        if (hashes[hashOf(key)] === 0) continue;
        const suspicion = suspicions.get(key);
        if (suspicion) found.push({ from: first, at: index, suspicion });
      }
      return found;
    },
  };
}

/** What was read before the sign of a diff, as if that were not there. */
interface Across {
  key: number;
  /** Of the last three. */
  places: [number, number, number];
  sign: number;
}

interface Read {
  across: Across | null;
  trigger?: Trigger;
}

const SPACE = 0x20;

function hashOf(key: number): number {
  return Math.imul(key, 0x9e3779b1) >>> (32 - HASH_BITS);
}

function toKey(gram: string): number {
  let key = 0;
  for (let index = 0; index < GRAM; index += 1) key = (key << 8) | gram.charCodeAt(index);
  return key;
}

/** The four characters that ordinary text has least: those with signs and digits, else the last ones. */
function rarest(word: string): number {
  let best = Math.max(0, word.length - GRAM);
  for (let at = best; at >= 0; at -= 1) {
    const signs = signsOf(word.slice(at, at + GRAM));
    if (signs > 0 && signs >= signsOf(word.slice(best, best + GRAM))) best = at;
  }
  return best;
}

function signsOf(text: string): number {
  return text.replaceAll(/[a-z]/gi, '').length;
}

/** However its first characters are written. */
function firstGrams(needle: Needle): Set<string> {
  if (needle.isHex) return firstHexGrams(needle.bytes.toString('latin1'));
  let beginnings = new Set(['']);
  for (const byte of needle.bytes.subarray(0, GRAM)) {
    const spellings = toSpellings(byte, needle);
    const longer = [...beginnings].flatMap((text) =>
      text.length >= GRAM ? [text] : spellings.map((spelling) => (text + spelling).slice(0, GRAM)),
    );
    beginnings = new Set(longer);
  }
  return beginnings;
}

/** Two bytes, with what may stand between them. */
function firstHexGrams(hex: string): Set<string> {
  const separators = ['', ...HEX_SEPARATORS, ',0x'];
  return new Set(separators.map((one) => (hex.slice(0, 2) + one + hex.slice(2)).slice(0, GRAM)));
}
