// What a line has to do with the lines around it.
import type { Line } from './read-lines.ts';
import type { Recogniser } from './recognisers.ts';

type IsSuch = (at: number) => boolean;

const CAPTURED_HEAD = /^\s*console\.(?:error|warn|log|info|debug)\b/;
const CAPTURED_END = /^\s*(?:●|✓|✕|×|PASS\b|FAIL\b|Test Suites:)/;
const MAX_CAPTURED = 30;

/** What tests have printed while they ran, most often those that passed. */
export function findCaptured(lines: readonly Line[]): IsSuch {
  const captured = new Uint8Array(lines.length);
  let until = -1;
  lines.forEach(({ text }, at) => {
    if (CAPTURED_HEAD.test(text)) until = at + MAX_CAPTURED;
    else if (CAPTURED_END.test(text)) until = -1;
    if (at <= until) captured[at] = 1;
  });
  return (at) => captured[at] === 1;
}

const TRACE_START = 3;

/** Of a stack trace, what is neither its beginning nor the first frame in code of one's own. */
export function findMidTrace(found: readonly (readonly Recogniser[])[]): IsSuch {
  const mid = new Uint8Array(found.length);
  let length = 0;
  let hasOwn = false;
  found.forEach((recognised, at) => {
    if (!recognised.some(([name]) => name === 'frame')) {
      length = 0;
      hasOwn = false;
      return;
    }
    length += 1;
    const isOwn = !recognised.some(([name]) => name === 'library-frame');
    if (length > TRACE_START && (hasOwn || !isOwn)) mid[at] = 1;
    hasOwn ||= isOwn;
  });
  return (at) => mid[at] === 1;
}

const HEADING =
  /^(?:TASK \[|PLAY \[|RUNNING HANDLER|> Task :|=== RUN|\[INFO\] Running |Running \S|\[RUN\]|\[ RUN|Test Case '|Test Suite '|##\[group\]Run |\$ |STEP \d{1,9}|#\d{1,9} \[|Step \d{1,9}\/\d{1,9}|test \S+ \.{3}|● |FAIL |FAILED |\S+\.(?:[jt]sx?|py|rb|go|rs|java|cs|php|swift|kt|scala)\s*$|\S{1,120}: In (?:function|member)|In file included|\[INFO\] -{2,}.*(?:<|\()|error\[|warning: unused)/;
const MAX_ABOVE = 60;

/** What was going on when a sign came. */
export function findHeadings(lines: readonly Line[], isStrong: IsSuch): IsSuch {
  const found = new Set<number>();
  let heading = -MAX_ABOVE;
  lines.forEach(({ text }, at) => {
    if (isStrong(at) && at - heading < MAX_ABOVE) found.add(heading);
    if (HEADING.test(text)) heading = at;
  });
  return (at) => found.has(at);
}

const MAX_BELOW = 60;

/** Lines that belong to a sign above them, since they are indented below it. */
export function findContinuations(lines: readonly Line[], isStrong: IsSuch): IsSuch {
  const continues = new Uint8Array(lines.length);
  let head = -1;
  lines.forEach(({ text }, at) => {
    if (text === '') return;
    if (isStrong(at)) head = at;
    else if (head >= 0 && at - head <= MAX_BELOW && indentOf(text) > indentOf(lines[head]?.text ?? ''))
      continues[at] = 1;
    else head = -1;
  });
  return (at) => continues[at] === 1;
}

/** A whole screen of text is none. */
const MAX_PARAGRAPH = 40;

/** Lines between the same blank ones as a sign. */
export function findParagraphs(lines: readonly Line[], isStrong: IsSuch): IsSuch {
  const paragraphs = new Uint8Array(lines.length);
  let start = 0;
  let hasSign = false;
  for (let at = 0; at <= lines.length; at += 1) {
    if ((lines[at]?.text ?? '') !== '') {
      hasSign ||= isStrong(at);
      continue;
    }
    if (hasSign && at - start <= MAX_PARAGRAPH) paragraphs.fill(1, start, at);
    start = at + 1;
    hasSign = false;
  }
  return (at) => paragraphs[at] === 1;
}

export function indentOf(text: string): number {
  return text.length - text.trimStart().length;
}
