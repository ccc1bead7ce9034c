// What is said of claims that do not hold: to the model, so that it can mend them, and in the note, if they stay.
import type { CheckedLink, CheckedNote, CheckedQuote } from './check-note.ts';
import type { Quote } from './find-claims.ts';
import type { JobLink } from './find-links.ts';

/** For the model; null when everything holds, or can be put right without it. */
export function toObjection({ quotes, links }: CheckedNote): string | null {
  const wrong = [
    ...quotes.flatMap(({ quote, verdict }) => {
      const words = toWords(verdict);
      return words === null ? [] : [`- the quote ${shown(quote)} ${words}`];
    }),
    ...links.flatMap(({ link, verdict }) => {
      const words = toLinkWords(verdict);
      return words === null ? [] : [`- the link ${link.url}: ${words}`];
    }),
  ];
  if (wrong.length === 0) return null;
  return [
    'What it claims was held against what the data sources have answered, and this does not hold:',
    ...wrong.slice(0, MAX_WRONG),
    'Look the lines up and quote them exactly as they are, each block under the link of the job it is from, or leave them out. What a command printed proves nothing, only what a data source answered. Then write the whole answer again.',
  ].join('\n');
}

/** The note with the numbers that could be put right, and a mark on what could not be verified. */
export function markNote(text: string, { quotes, links }: CheckedNote): string {
  const lines = text.split('\n');
  for (const { verdict } of quotes) {
    if (verdict.kind !== 'verified') continue;
    for (const { at, wrong, right } of verdict.corrections) {
      lines[at] = (lines[at] ?? '').replace(new RegExp(`\\b${wrong}\\b`), `${right}`);
    }
  }
  // From the end, so that the places before stay what they are.
  for (const { link, verdict } of links.toReversed())
    lines[link.at] = withLink(lines[link.at] ?? '', link, verdict);
  for (const { quote, verdict } of quotes.toSorted((a, b) => b.quote.end - a.quote.end)) {
    const words = toMark(verdict);
    if (words === null) continue;
    // As far in as a fence, so that a list goes on; indented code would swallow it.
    const hasFence = quote.lines[0]?.at !== quote.start;
    const margin = hasFence ? /^[ \t]*/.exec(lines[quote.start] ?? '')?.[0] : '';
    lines.splice(quote.end, 0, '', `${margin}*⚠️ Unverified: ${words}.*`, '');
  }
  return lines.join('\n');
}

export function countVerified({ quotes }: CheckedNote): { verified: number; quotes: number } {
  return {
    verified: quotes.filter(({ verdict }) => verdict.kind === 'verified').length,
    quotes: quotes.length,
  };
}

const MAX_WRONG = 20;
const SHOWN_CHARS = 120;

function shown({ lines }: Quote): string {
  const first = lines.find(({ text }) => text.trim() !== '')?.text.trim() ?? '';
  return JSON.stringify(first.length > SHOWN_CHARS ? `${first.slice(0, SHOWN_CHARS)}…` : first);
}

function toWords(verdict: CheckedQuote['verdict']): string | null {
  switch (verdict.kind) {
    case 'verified':
      return null;
    case 'not-found':
      return 'is in nothing that was fetched, or not in this order';
    case 'elsewhere':
      return `is not in the log of the linked job, but in that of ${jobWords(verdict.job)}`;
    case 'unknown':
      return `could not be checked: ${verdict.reason}; fetch it again into another file if you need it`;
  }
}

function toLinkWords(verdict: CheckedLink['verdict']): string | null {
  if (verdict.kind === 'foreign') return 'this is no job of a pipeline of this merge request';
  if (verdict.kind === 'unchecked') return 'there are too many to look at each; leave some out';
  return verdict.kind === 'wrong-line' && verdict.right === null ? `no such line: ${verdict.reason}` : null;
}

function toMark(verdict: CheckedQuote['verdict']): string | null {
  switch (verdict.kind) {
    case 'verified':
      return null;
    case 'not-found':
      return 'these lines were not found in what was read';
    case 'elsewhere':
      return `these lines are from ${jobWords(verdict.job)}`;
    case 'unknown':
      return 'what these lines are from is not available any more';
  }
}

function jobWords(job: number | 'unnamed'): string {
  return job === 'unnamed' ? 'another job' : `job ${job}`;
}

function withLink(line: string, link: JobLink, verdict: CheckedLink['verdict']): string {
  if (verdict.kind === 'fine') return line;
  const before = line.slice(0, link.column);
  const behind = line.slice(link.column + link.url.length);
  const [whole, label] = /\[((?:[^[\]]|\[[^\]]*\])*)\]\(<?$/.exec(before) ?? [];
  if (whole === undefined || label === undefined) return `${before}${toAddress(link, verdict)}${behind}`;
  const start = before.slice(0, before.length - whole.length);
  const [close = ''] = /^[^)]*\)/.exec(behind) ?? [];
  const rest = behind.slice(close.length);
  if (verdict.kind !== 'wrong-line') return `${start}${label}${rest}`;
  const right =
    verdict.right === null ? label : label.replace(new RegExp(`\\b${link.line}\\b`), `${verdict.right}`);
  const doubt = verdict.right === null ? ' (line not verified)' : '';
  return `${start}[${right}](${toAddress(link, verdict)})${doubt}${rest}`;
}

function toAddress({ url, jobId }: JobLink, verdict: CheckedLink['verdict']): string {
  if (verdict.kind !== 'wrong-line') return `job ${jobId}`;
  const [address = ''] = url.split('#', 1);
  return verdict.right === null ? address : `${address}#L${verdict.right}`;
}
