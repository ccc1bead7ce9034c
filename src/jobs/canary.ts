// Marks in what is not for publication: should one show up in an answer, what it stood in was being repeated.
import { createHmac } from 'node:crypto';
import type { Logger } from 'pino';
import { withChangedTurn } from '../agent/history.ts';
import type { Hooks } from '../agent/hooks.ts';
import { type Sandbox, SandboxFullError } from '../sandbox/sandbox.ts';

export interface Canaries {
  /** In the system prompt. */
  prompt: string;
  /** In a file of the sandbox, outside of the folders that are saved. */
  sandbox: string;
}

/** The same for a session in every run, so that what a model has cached of the prompt is still good. */
export function createCanaries(key: Buffer, sessionId: string): Canaries {
  const make = (where: string): string =>
    createHmac('sha256', key).update(`${where}\n${sessionId}`).digest('hex').slice(0, MARK_CHARS);
  return { prompt: make('prompt'), sandbox: make('sandbox') };
}

/** A sandbox that is full goes without: the work matters more. */
export async function placeCanary(
  sandbox: Pick<Sandbox, 'writeFile'>,
  { sandbox: mark }: Canaries,
): Promise<void> {
  try {
    await sandbox.writeFile('/tmp/.canary', `${mark}\n`);
  } catch (error) {
    if (!(error instanceof SandboxFullError)) throw error;
  }
}

export interface CanaryGuard {
  /** Takes it out of what the model says before anybody, and the session, gets it. */
  hook: Hooks;
  /** The same for a text as a whole. */
  clean(text: string): string;
  /** Whether something had to be withheld so far. */
  hasWithheld(): boolean;
}

export function createCanaryGuard(canaries: Canaries, log: Logger): CanaryGuard {
  const patterns = Object.entries(canaries).map(([where, mark]) => ({ where, pattern: toPattern(mark) }));
  let hasWithheld = false;
  const clean = (text: string): string =>
    patterns.reduce((rest, { where, pattern }) => {
      const without = withoutLines(rest, pattern);
      if (without === rest) return rest;
      hasWithheld = true;
      log.warn({ where }, 'an answer repeated what is not for publication; the passage was withheld');
      return without;
    }, text);
  return {
    clean,
    hasWithheld: () => hasWithheld,
    hook: {
      afterModel(turn) {
        const content = clean(turn.message.content);
        if (content === turn.message.content) return undefined;
        return { turn: { ...turn, message: withChangedTurn(turn.message, { content }) } };
      },
    },
  };
}

const MARK_CHARS = 32;
const PART = 8;
const WITHHELD = '[withheld]';
const BETWEEN = '[^a-z\\d]{0,8}';
/** As bytes are written in hexadecimal: `%61`, `%2561`, `\x61`, `\u0061`, `&#x61;`, `0x61`. */
const BETWEEN_BYTES = `${BETWEEN}(?:(?:0?x|u00|25)${BETWEEN})?`;

/**
 * A part of a mark is enough: as it is, backwards, moved by 13 letters, as numbers, in hexadecimal or in Base64, with
 * signs and blanks between. Of Unicode's letters the pattern knows nothing: with them it takes a hundred times as long
 * to compile.
 */
function toPattern(mark: string): RegExp {
  const parts = Array.from({ length: MARK_CHARS / PART }, (_, at) => mark.slice(at * PART, (at + 1) * PART));
  const spellings = parts.flatMap((part) =>
    [part, reverse(part)].flatMap((text) => [
      ...[text, rotate(text), ...toBase64(text)].map((needle) => [...needle].join(BETWEEN)),
      Array.from(text, (one) => [...toHex(one)].join(BETWEEN)).join(BETWEEN_BYTES),
      Array.from(text, (one) => one.charCodeAt(0)).join('[^a-z\\d]{1,8}'),
    ]),
  );
  return new RegExp(spellings.join('|'), 'gi');
}

/** By 13 letters. */
function rotate(text: string): string {
  return text.replaceAll(/[a-f]/g, (one) => String.fromCharCode(one.charCodeAt(0) + 13));
}

function reverse(text: string): string {
  return [...text].reverse().join('');
}

function toHex(text: string): string {
  return Buffer.from(text).toString('hex');
}

/** What is always the same of it, wherever it stands in what was encoded. */
function toBase64(text: string): string[] {
  return [0, 1, 2].map((before) => {
    const encoded = Buffer.from(`${' '.repeat(before)}${text}`).toString('base64');
    return encoded.slice(Math.ceil((before * 8) / 6), Math.floor(((before + text.length) * 8) / 6));
  });
}

/** Whole lines: what stands around a mark was to be repeated with it. */
function withoutLines(text: string, pattern: RegExp): string {
  const withheld = new Set<number>();
  // Wide, bold and other letters that are read as the same.
  const plain = text.normalize('NFKC');
  for (const { index, 0: found } of plain.matchAll(pattern)) {
    const first = countLines(plain.slice(0, index));
    for (let at = first; at <= first + countLines(found); at += 1) withheld.add(at);
  }
  if (withheld.size === 0) return text;
  return text
    .split('\n')
    .map((line, at) => (withheld.has(at) ? WITHHELD : line))
    .filter((_line, at) => !(withheld.has(at) && withheld.has(at - 1)))
    .join('\n');
}

function countLines(text: string): number {
  return text.split('\n').length - 1;
}
