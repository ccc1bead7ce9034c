import type { Run } from './bytes.ts';

/** What a secret looks like that is not our own. */
export interface Rule {
  /** What stands in its place: `[redacted: kind]`. */
  kind: string;
  /** One of these, in whatever case, must be there before the rule is asked; at least four characters each. */
  words: readonly string[];
  /** Given the place of the word, and the same text as bytes; looks at no more than `MAX_RULE_BYTES` behind and `MAX_LOOK_BACK` before it. */
  find: (text: string, at: number, bytes: Buffer) => Finding | null;
  /** What its findings go on with, if all of them do. It is not asked within such a stretch that was found before. */
  run?: Run;
}

export interface Finding {
  start: number;
  end: number;
  /** What comes next belongs to it as long as it is of these characters. */
  run?: Run;
}

export const MAX_RULE_BYTES = 2_048;
export const MAX_LOOK_BACK = 64;

/** Stands for every byte of a secret that was found before; no text has it, and no pattern may take it. */
export const FOUND = '\xff';

/** The words are the first of the pattern's text, or `before` characters behind its beginning. */
export function toRule(
  kind: string,
  words: readonly string[],
  pattern: RegExp,
  { run, before = 0, alone = false }: { run?: Run; before?: number; alone?: boolean } = {},
): Rule {
  const sticky = new RegExp(pattern.source, `${pattern.flags}y`);
  return {
    kind,
    words,
    ...(run && { run }),
    find(text, at) {
      const start = at - before;
      if (start < 0 || (alone && isWithinWord(text, start))) return null;
      sticky.lastIndex = start;
      const found = sticky.exec(text);
      return found && { start, end: start + found[0].length, ...(run && { run }) };
    },
  };
}

/** Of a terminal, as it is or as programs write it in JSON and in code: `\u001b[32m`, `\x1b[0K`, `\033[1m`. */
export const COLOUR = `(?:\\x1b|\\\\{1,4}(?:u001b|x1b|0?33|e))(?:\\[[\\d;?]{0,16}[A-Za-z]|[()][A-Z0-9])`;
/** Ends like a word and is none: the last line of a key, what is percent-encoded, line ends and other characters that are escaped, colours. */
const NO_WORD = new RegExp(
  `(?:-{5}|%[0-9A-Fa-f]{2}|\\\\(?:[abefnrtv]|[0-3]?[0-7]{1,2}|x[0-9A-Fa-f]{2}|u[0-9A-Fa-f]{4})|${COLOUR}|\\[\\d[\\d;]{0,15}[A-Za-z])$`,
);
const MAX_NO_WORD = 32;

function isWithinWord(text: string, at: number): boolean {
  return (
    /[\w-]$/.test(text.slice(Math.max(0, at - 1), at)) &&
    !NO_WORD.test(text.slice(Math.max(0, at - MAX_NO_WORD), at))
  );
}

/** Every word that begins so, for beginnings of three characters. */
export function followed(beginning: string, by = 'abcdefghijklmnopqrstuvwxyz0123456789_-'): string[] {
  return Array.from(by, (character) => beginning + character);
}

export function matchAt(sticky: RegExp, text: string, at: number): RegExpExecArray | null {
  sticky.lastIndex = at;
  return sticky.exec(text);
}

/** Of what stands there; -1 if it does not. */
export function endAt(sticky: RegExp, text: string, at: number): number {
  sticky.lastIndex = at;
  return sticky.test(text) ? sticky.lastIndex : -1;
}
