import { Transform } from 'node:stream';
import { setImmediate } from 'node:timers/promises';
import { PermanentError } from '../errors.ts';
import type { Learn } from '../learn.ts';
import { COMMAND_RULES } from './command-rules.ts';
import { CONTEXT_RULES } from './context-rules.ts';
import { createKnownSecrets } from './known-secrets.ts';
import type { Needle } from './own-secrets.ts';
import { redactValue } from './redact-value.ts';
import type { Rule } from './rule.ts';
import { createScanner, type Scanner } from './scanner.ts';
import { isTellingName, looksSecret } from './telling.ts';
import { TOKEN_RULES } from './token-rules.ts';
import { createTriggerTable, type TriggerTable } from './triggers.ts';

/** Takes secrets out of whatever enters the sandbox or the conversation, and of whatever leaves. */
export interface Redactor {
  /**
   * Every method throws `RedactionError`; then nothing may go on. What `text` or `value` redacts twice is as if it was
   * once; streams and pieces pass once, so another pass may still find what stood right beside a secret.
   */
  text(text: string): string;
  /** Of JSON; names of keys, and values by the names of their keys. The same object when there was nothing to remove. */
  value<T>(value: T): T;
  /** Bytes of text, in whatever chunks. Line breaks stay, so that lines keep their numbers. */
  stream(): Transform;
  /** The same for what must keep its length: a secret becomes stars. */
  maskingStream(): Transform;
  /** For a text that comes bit by bit; each call answers what can be said by now. */
  pieces(): { push(text: string): string; end(): string };
  /** Whether it holds a secret of our own or one of an unmistakable shape. For what chance must not damage. */
  isClean(value: unknown): boolean;
  /**
   * For somebody who obtains secrets of the service while it runs: logins that are renewed, tokens that are minted. What
   * it tells is found from then on, by what is under way as well.
   */
  openHolder(): Learn;
  /** How many were removed so far, by kind. */
  counts(): Readonly<Record<string, number>>;
}

export interface RedactorOptions {
  /** Those of the service itself; they are found in base64, hexadecimal, percent-encoded and over several lines. */
  secrets: readonly string[];
  /** Hears of secrets that are too short to be told from ordinary words, and are not looked for. */
  onTooShort?: (count: number) => void;
}

/** Nothing that may hold a secret may go on. */
export class RedactionError extends PermanentError {
  constructor(cause: unknown) {
    const why = cause instanceof Error ? cause.message : String(cause);
    super(`secrets could not be removed, so nothing was passed on: ${why}; please report it`, { cause });
  }
}

export function createRedactor({ secrets, onTooShort = () => undefined }: RedactorOptions): Redactor {
  const known = createKnownSecrets({
    secrets,
    onTooShort,
    onChange(more) {
      if (more === null) tables = createTables(known.needles());
      else for (const table of Object.values(tables)) table.look(more);
    },
  });
  let tables = createTables(known.needles());
  const found = new Map<string, number>();
  const onFound = (kind: string): void => void found.set(kind, (found.get(kind) ?? 0) + 1);
  const scanWith = (which: keyof Tables, onFound: (kind: string) => void, keepsLength = false): Scanner =>
    createScanner({
      // A stream may be under way when a secret is told.
      table: () => tables[which],
      isSecond: (rule) => second.has(rule),
      keepsLength,
      onFound,
      toPlaceholder: keepsLength ? () => '' : toPlaceholder,
    });

  /** Until nothing more is found: what stood right beside one secret may be known as another once that is gone. */
  function redactText(text: string): string {
    let before = text;
    for (let pass = 0; pass < MAX_PASSES; pass += 1) {
      const after = redactOnce(before);
      if (after === before) break;
      before = after;
    }
    return before;
  }

  function redactOnce(text: string): string {
    let count = 0;
    const scanner = scanWith('all', (kind) => {
      count += 1;
      onFound(kind);
    });
    const out = Buffer.concat([scanner.push(Buffer.from(text)), scanner.end()]);
    // Half characters, which bytes can not hold, are kept where there was nothing to remove.
    return count === 0 ? text : out.toString();
  }

  const redactNamed = (name: string, value: string): string => {
    const text = redactText(value);
    if (text !== value || !isTellingName(name) || !looksSecret(name, value)) return text;
    onFound(NAMED);
    return toPlaceholder(NAMED);
  };

  return {
    text: (text) => orStop(() => redactText(text)),
    value: (value) => orStop(() => redactValue(value, redactText, redactNamed)),
    stream: () => toTransform(scanWith('all', onFound)),
    maskingStream: () => toTransform(scanWith('all', onFound, true)),
    pieces() {
      const scanner = scanWith('all', onFound);
      const decoder = new TextDecoder();
      return {
        push: (text) => orStop(() => decoder.decode(scanner.push(Buffer.from(text)), { stream: true })),
        end: () => orStop(() => decoder.decode(scanner.end())),
      };
    },
    isClean: (value) =>
      orStop(() => {
        let isClean = true;
        const scanner = scanWith('shapes', () => {
          isClean = false;
        });
        scanner.push(Buffer.from(JSON.stringify(value) ?? ''));
        scanner.end();
        return isClean;
      }),
    openHolder() {
      const learn = known.openHolder();
      return (secrets) => orStop(() => learn(secrets));
    },
    counts: () => Object.fromEntries(found),
  };
}

interface Tables {
  all: TriggerTable;
  /** Without what is known by its surroundings. */
  shapes: TriggerTable;
}

function createTables(needles: readonly Needle[]): Tables {
  const tables = {
    all: createTriggerTable([...TOKEN_RULES, ...AROUND]),
    shapes: createTriggerTable(TOKEN_RULES),
  };
  for (const table of Object.values(tables)) table.look(needles);
  return tables;
}

const MAX_PASSES = 5;
const NAMED = 'named-secret';
const AROUND = [...CONTEXT_RULES, ...COMMAND_RULES];
const second = new Set<Rule>(AROUND);

function toPlaceholder(kind: string): string {
  return `[redacted: ${kind}]`;
}

function orStop<T>(work: () => T): T {
  try {
    return work();
  } catch (error) {
    throw new RedactionError(error);
  }
}

/** After so much, whatever else waits has its turn. */
const MAX_CHUNK_BYTES = 65_536;

function toTransform(scanner: Scanner): Transform {
  let sinceTurn = 0;
  return new Transform({
    async transform(chunk: Buffer, _encoding, done) {
      try {
        for (let at = 0; at < chunk.length; at += MAX_CHUNK_BYTES) {
          const part = chunk.subarray(at, at + MAX_CHUNK_BYTES);
          this.push(orStop(() => scanner.push(part)));
          sinceTurn += part.length;
          if (sinceTurn < MAX_CHUNK_BYTES) continue;
          sinceTurn = 0;
          await setImmediate();
        }
        done();
      } catch (error) {
        done(error as Error);
      }
    },
    flush(done) {
      try {
        done(null, orStop(scanner.end));
      } catch (error) {
        done(error as Error);
      }
    },
  });
}
