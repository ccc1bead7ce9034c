import type { Ending } from '../agent/events.ts';
import { contextTokens, type Usage } from '../agent/model.ts';
import { toUsd } from './ledger.ts';

export interface NoteFacts {
  text: string;
  ending: Ending;
  reason: string;
  /** Who answered, in that order. */
  models: readonly string[];
  usage: Usage;
  costMicroUsd: number;
  iterations: number;
  sessionId: string;
  /** The earlier conversation could not be found. */
  isSessionLost: boolean;
  /** What could not be read, so that the note names it even if the model does not. */
  gaps: readonly string[];
  /** Something was taken out of the text. */
  hasWithheld: boolean;
  /** Of the quotes, how many are what was read; null when nobody could tell. */
  evidence: { verified: number; quotes: number } | null;
}

const MAX_GAPS = 5;

const EARLY_ENDINGS: Partial<Record<Ending, string>> = {
  iterations: 'This analysis used up its turns; what follows is the best answer so far.',
  context: 'This analysis grew too long; what follows is the best answer so far.',
  money: 'This analysis used up its money; what follows is the best answer so far.',
  time: 'This analysis used up its time; what follows is the best answer so far.',
  empty: 'The model stopped answering; what follows is all there is.',
  'model-error': 'The model could not be used to the end; what follows is all there is.',
  'unexpected-error': 'This analysis broke off because of an internal error; what follows is all there is.',
};

/** Why, is for the log and not for the merge request: it may name hosts, keys and files. */
const INTERNAL = new Set<Ending>(['model-error', 'unexpected-error']);

/** The note as it is posted: what the agent found, and under which circumstances. */
export function composeNote(facts: NoteFacts): string {
  const notices: string[] = [];
  if (facts.isSessionLost)
    notices.push('The earlier conversation is no longer available, so this answer starts afresh.');
  if (facts.hasWithheld)
    notices.push('A part of this answer was withheld: it repeated what is not meant for publication.');
  const early = EARLY_ENDINGS[facts.ending];
  if (early) notices.push(INTERNAL.has(facts.ending) ? early : `${early} (${facts.reason})`);
  if (facts.gaps.length > 0) notices.push(toGapNotice(facts.gaps));
  return [...notices.map((notice) => `> ⚠️ ${notice}`), facts.text, `<sub>${toFooter(facts)}</sub>`].join(
    '\n\n',
  );
}

/** For a session that could neither be saved nor kept. */
export function withUnsavedNotice(note: string): string {
  const notice = 'This session could not be saved: a reply to this note may start afresh.';
  return `> ⚠️ ${notice}\n\n${note}`;
}

function toGapNotice(gaps: readonly string[]): string {
  const named = gaps.slice(0, MAX_GAPS).map((gap) => `\`${gap.replaceAll('`', "'")}\``);
  const more = gaps.length > MAX_GAPS ? ` and ${gaps.length - MAX_GAPS} more` : '';
  return `Not everything could be read: ${named.join(', ')}${more}.`;
}

function toEvidenceWords({ verified, quotes }: NonNullable<NoteFacts['evidence']>): string[] {
  if (quotes === 0) return [];
  return [`${verified} of ${quotes} ${quotes === 1 ? 'quote' : 'quotes'} verified`];
}

function toFooter({ models, iterations, usage, costMicroUsd, sessionId, evidence }: NoteFacts): string {
  const tokens = contextTokens(usage) + usage.outputTokens;
  return [
    'Hummingbird',
    ...(models.length > 0 ? [models.join(' → ')] : []),
    `${iterations} ${iterations === 1 ? 'turn' : 'turns'}`,
    `${Math.round(tokens / 1_000)}k tokens`,
    toUsd(costMicroUsd),
    ...(evidence ? toEvidenceWords(evidence) : ['quotes not checked']),
    `session ${sessionId.slice(0, 8)}`,
    'reply to this note to ask further',
  ].join(' · ');
}
