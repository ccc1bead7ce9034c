import { RECOGNISERS, type Recogniser } from './recognisers.ts';

/** Whether any sign can be in a line at all; most have none. */
const MAYBE =
  /[Ee]rr|ERR|[Ff]ail|FAIL|xcept|xpect|[Aa]ssert|ssume|panic|[Ff]atal|FATAL|[Kk]ill|SIG|ignal|[Dd]enied|[Ff]orbid|[Uu]nauth|[Nn]ot |n't|[Uu]nable|[Cc]annot|[Mm]iss|[Tt]ime|TIME|[Uu]nde|[Uu]nres|[Uu]nexp|[Uu]nsup|[Uu]nrec|[Uu]nhan|[Uu]ncau|[Uu]nkn|[Ii]nval|[Mm]alf|[Ss]yntax|[Pp]ars|[Cc]onfl|[Ii]ncomp|[Mm]ismatch|MISM|[Oo]ut of|No |no |[Mm]emory|OOM|quota|limit|[Cc]onnection|ECONN|ETIME|ENOT|EAI|EACC|EPERM|TLS|SSL|cert|[Ss]tat|exit|[Rr]etur|Traceback|Caused|Suppressed|raise|throw|goroutine|terminate|Abort|abort|Sanitizer|smash|free|Bus|Illegal|BUILD|[Bb]uild|[Cc]ompil|went wrong|Target|Command|rake|Tests|tests|[Rr]esult|Found|problem|DONE|SEVERE|CRIT|violat|ulnerab|roken|orrupt|reject|allowed|giving|[Gg]ave|must|require|lock|reformat|solv|peer|[✕✖✗×❌✘●✓✔√·|│^~]|\d\) |:\d|\.\d|0x|^\s*[-+@=_#>]|^\s+(?:at|from|in|File|\.\.\.|\d)|not ok|left|right|got|want|[Aa]ctual|iffer|[Dd]isallow|[Ss]everity|^E |\d{3}/;

const NOTHING: readonly Recogniser[] = [];
const CALMING = RECOGNISERS.filter((one) => !isSign(one));

/** All that know a line of this kind. */
export function recognise(text: string): readonly Recogniser[] {
  if (text === '') return NOTHING;
  const found = (MAYBE.test(text) ? RECOGNISERS : CALMING).filter(([, , pattern]) => pattern.test(text));
  return found.length === 0 ? NOTHING : found;
}

/** It speaks of what went wrong; the others say that all is well. */
export function isSign([, strength]: Recogniser): boolean {
  return strength > 0;
}

export function strengthOf(found: readonly Recogniser[]): number {
  return found.reduce((sum, [, strength]) => sum + strength, 0);
}
