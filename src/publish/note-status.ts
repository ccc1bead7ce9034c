// What became of an analysis, said on top of it: its text stays below, folded when it is no longer current.

export type NoteStatus =
  /** Another commit is the newest one now. */
  | { kind: 'outdated'; sha: string }
  /** The same commit has passed since. */
  | { kind: 'passed'; pipeline: { id: number; webUrl: string } }
  /** It, or its update, could not be made; `words` are our own. */
  | { kind: 'failed'; words: string };

/** `text` without any earlier status. */
export function withStatus(text: string, status: NoteStatus): string {
  const bare = withoutStatus(text);
  const isFolded = status.kind !== 'failed';
  const top = `> ${toBanner(status)}\n\n${isFolded ? FOLDED : OPEN}`;
  if (bare === '') return top;
  return `${top}\n\n${isFolded ? `${FOLD}${bare}${UNFOLD}` : bare}`;
}

export function withoutStatus(text: string): string {
  const [top, mark] = TOP.exec(text) ?? [];
  if (top === undefined) return text;
  const rest = text.slice(top.length);
  const isFolded = mark === FOLDED && rest.startsWith(FOLD) && rest.endsWith(UNFOLD);
  return isFolded ? rest.slice(FOLD.length, -UNFOLD.length) : rest;
}

// No safe text has a comment outside of code, so none can pretend to begin with a status.
const FOLDED = '<!-- hummingbird:folded -->';
const OPEN = '<!-- hummingbird:status -->';
const TOP = new RegExp(`^> [^\\n]+\\n\\n(${FOLDED}|${OPEN})(?:\\n\\n|$)`);
const FOLD = '<details>\n<summary>The analysis as it was</summary>\n\n';
const UNFOLD = '\n\n</details>';

function toBanner(status: NoteStatus): string {
  switch (status.kind) {
    case 'outdated':
      return `⏩ **Outdated:** the new commit \`${toShortSha(status.sha)}\` was pushed after this analysis.`;
    case 'passed':
      return `✅ **Passed on retry:** ${toLink(status.pipeline)} of the same commit succeeded, and nothing of it fails any more.`;
    case 'failed':
      return `⚠️ ${status.words.replaceAll(/\s+/g, ' ')}`;
  }
}

function toShortSha(sha: string): string {
  return sha.replaceAll(/[^0-9a-f]/gi, '').slice(0, 12);
}

function toLink({ id, webUrl }: { id: number; webUrl: string }): string {
  const isPlain = /^https?:\/\/[^\s()<>`\\"'|[\]]{1,2000}$/.test(webUrl);
  return isPlain ? `[pipeline ${id}](${webUrl})` : `pipeline ${id}`;
}
