// What a note claims to have from jobs: quotes, and links to jobs and their lines. By lines of the Markdown, so that a
// claim that does not hold can be changed where it stands.

export interface Claims {
  quotes: Quote[];
  links: JobLink[];
}

export interface Quote {
  /** Lines of the text, from 0: the first one, marks included, and the one behind the last. */
  start: number;
  end: number;
  /** The quoted lines without marks. */
  lines: { text: string; at: number }[];
  /** The link it stands under, if any. */
  link: JobLink | null;
}

export interface JobLink {
  /** Line of the text, from 0, and the place of the address in it. */
  at: number;
  column: number;
  url: string;
  /** `group/app`, with the folder of GitLab itself if it has one. */
  projectPath: string;
  jobId: number;
  /** The line of the log that is meant, and the last one of several. */
  line: number | null;
  lastLine: number | null;
}

/** Fences of other languages say what to do, or are of the change. */
const EVIDENCE = new Set(['', 'log', 'logs', 'text', 'txt', 'plaintext', 'output', 'ansi', 'trace']);
/** There a fence that is not marked as a log is advice. */
const ADVICE =
  /^\W*(?:\w+ed )?(?:what to do|how to|fix(?:es)?\b|next steps?|suggest|recommend|remedy|solution|workaround)/i;

const FENCE = /^[ \t]*(?:(?:[-*+]|\d{1,9}[.)])[ \t]+)?(`{3,}(?=[^`]*$)|~{3,})[ \t]*([^\s`]*)/;
const HEADING = /^[ \t]*(?:#{1,6}[ \t]+|(?:(?:[-*+]|\d{1,9}[.)])[ \t]+)?\*\*)(.*)/;
const BLOCK_QUOTE = /^[ \t]{0,3}>[ \t]?/;
const JOB_URL =
  /https?:\/\/([^\s()<>"'`|\\[\]/]+)\/((?:[^\s()<>"'`|\\[\]/?#]+\/)*?)-\/jobs\/(\d{1,15})(?![\w-])(?:#L(\d{1,8})(?:-L?(\d{1,8}))?(?!\w))?/gi;

export function findClaims(text: string): Claims {
  const lines = text.split('\n');
  const quotes: Quote[] = [];
  const links: JobLink[] = [];
  /** Since the last heading or quote. */
  let near: JobLink[] = [];
  let isAdvice = false;
  const addQuote = (quote: Omit<Quote, 'link'>): void => {
    quotes.push({ ...quote, link: near.findLast(({ line }) => line !== null) ?? near.at(-1) ?? null });
    near = [];
  };

  for (let at = 0; at < lines.length; at += 1) {
    const line = lines[at] ?? '';
    const [, mark, language = ''] = FENCE.exec(line) ?? [];
    if (mark !== undefined) {
      const end = endOfFence(lines, at, mark);
      const isLog = /^logs?$/i.test(language);
      const isEvidence = isLog || (EVIDENCE.has(language.toLowerCase()) && !isAdvice);
      if (isEvidence) addQuote({ start: at, end: end.next, lines: toLines(lines, at + 1, end.content) });
      at = end.next - 1;
      continue;
    }
    if (BLOCK_QUOTE.test(line)) {
      let end = at;
      while (BLOCK_QUOTE.test(lines[end] ?? '')) end += 1;
      // Otherwise it may quote a person, or be a remark.
      if (near.length > 0) {
        const quoted = toLines(lines, at, end).map((one) => ({
          ...one,
          text: toPlain(one.text.replace(BLOCK_QUOTE, '')),
        }));
        addQuote({ start: at, end, lines: quoted });
      }
      at = end - 1;
      continue;
    }
    const heading = HEADING.exec(line)?.[1];
    if (heading !== undefined) isAdvice = ADVICE.test(heading);
    if (/^[ \t]*#{1,6}[ \t]/.test(line)) near = [];
    const found = findLinks(line, at);
    links.push(...found);
    near.push(...found);
  }
  return { quotes, links };
}

function endOfFence(
  lines: readonly string[],
  start: number,
  mark: string,
): { content: number; next: number } {
  const closing = new RegExp(`^[ \\t]*${mark.charAt(0)}{${mark.length},}[ \\t]*$`);
  const content = lines.findIndex((line, index) => index > start && closing.test(line));
  return content === -1 ? { content: lines.length, next: lines.length } : { content, next: content + 1 };
}

function toLines(lines: readonly string[], start: number, end: number): Quote['lines'] {
  return lines.slice(start, end).map((text, index) => ({ text, at: start + index }));
}

/** Of a block quote, in which Markdown means something. */
function toPlain(text: string): string {
  return text.replaceAll(/\\([!-/:-@[-`{-~])|[`*]+|(?<!\w)_+|_+(?!\w)/g, '$1');
}

function findLinks(line: string, at: number): JobLink[] {
  return [...line.matchAll(JOB_URL)].map((match) => {
    const [url, , path = '', jobId, first, last] = match;
    return {
      at,
      column: match.index,
      url,
      projectPath: path.replace(/\/$/, ''),
      jobId: Number(jobId),
      line: first === undefined ? null : Number(first),
      lastLine: last === undefined ? null : Number(last),
    };
  });
}
