// Lines of a log that name the kind of a failure which reads like something else, told again at its end.
import { cutWords } from '../../cut-words.ts';

/** The log as it is, and after it what its lines are signs of, if they are. */
export async function* withSigns(chunks: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
  const found = new Map<string, { line: number; text: string }>();
  let line = 1;
  let rest = '';
  const look = (text: string) => {
    for (const { pattern, words } of SIGNS)
      if (!found.has(words) && pattern.test(text)) found.set(words, { line, text });
  };
  for await (const chunk of chunks) {
    yield chunk;
    const lines = `${rest}${chunk.toString('latin1')}`.split('\n');
    // A line without an end must not fill the memory.
    rest = (lines.pop() ?? '').slice(-MAX_LINE);
    for (const text of lines) {
      look(text);
      line += 1;
    }
  }
  look(rest);
  if (found.size === 0) return;
  const told = [...found].map(([words, at]) => `  line ${at.line}: ${words} (${excerptOf(at.text)})`);
  yield Buffer.from(`${rest === '' ? '' : '\n'}[signs in this log]\n${told.join('\n')}\n`);
}

const MAX_LINE = 10_000;
const MAX_EXCERPT = 160;

const SIGNS = [
  {
    pattern: /signal: killed|OOMKilled|\bKilled\s*$|Cannot allocate memory|exit (?:code|status) 137/,
    words: 'out of memory (OOM), most likely: a process was killed from outside',
  },
  { pattern: /No space left on device|ENOSPC/i, words: 'the disk is full: the volume is too small' },
  {
    pattern: /UNAUTHORIZED: |unauthorized: access to the requested resource|authentication required/,
    words: 'the registry refuses the credentials: check the push or pull secret and its rights',
  },
  {
    pattern: /toomanyrequests|429 Too Many Requests/i,
    words: 'a rate limit: infrastructure, not the change',
  },
];

/** Only what is plain: the bytes may be any encoding. */
function excerptOf(text: string): string {
  const plain = text.replace(/[^ -~]+/g, ' ').trim();
  return plain.length > MAX_EXCERPT ? `${cutWords(plain, MAX_EXCERPT)} …` : plain;
}
