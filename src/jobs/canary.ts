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
    createHmac('sha256', key)
      .update(`${where}\n${sessionId}`)
      .digest('hex')
      .slice(0, 2 * HALF);
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

const HALF = 16;
const WITHHELD = '[withheld]';

/**
 * Half of a mark is enough: as it is, backwards, in hexadecimal or in Base64, with signs and blanks between. Of Unicode's
 * letters the pattern knows nothing: with them it takes a hundred times as long to compile.
 */
function toPattern(mark: string): RegExp {
  const halves = [mark.slice(0, HALF), mark.slice(HALF)];
  const needles = halves.flatMap((half) => [
    half,
    reverse(half),
    toHex(half),
    ...toBase64(half),
    ...toBase64(reverse(half)),
  ]);
  return new RegExp(needles.map((needle) => [...needle].join('[^a-z\\d]{0,8}')).join('|'), 'gi');
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
  for (const { index, 0: found } of text.matchAll(pattern)) {
    const first = countLines(text.slice(0, index));
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
