// Before a note is posted: what it quotes must be what the data sources have said.
import type { Logger } from 'pino';
import type { Hooks } from '../agent/hooks.ts';
import type { Message } from '../agent/messages.ts';
import { toPlainLines } from '../publish/visible-text.ts';
import type { Sandbox } from '../sandbox/sandbox.ts';
import type { FindOwnJobs } from '../sources/gitlab/own-jobs.ts';
import { type CheckedNote, checkNote } from '../verify/check-note.ts';
import { findDocuments } from '../verify/documents.ts';
import { countVerified, markNote, toObjection } from '../verify/mark-note.ts';

export interface EvidenceCheck {
  /** Sends an answer back, once, with what of it was not found. */
  hook: Hooks;
  /** The text with a mark on what could not be verified. */
  finish(text: string, messages: readonly Message[], signal: AbortSignal): Promise<CheckedText>;
}

export interface CheckedText {
  text: string;
  /** Null when nothing could be checked. */
  evidence: { verified: number; quotes: number } | null;
}

export function createEvidenceCheck({
  sandbox,
  findOwnJobs,
  log,
}: {
  sandbox: Pick<Sandbox, 'streamFile'>;
  findOwnJobs: FindOwnJobs;
  log: Logger;
}): EvidenceCheck {
  let isSentBack = false;
  let last: { text: string; checked: CheckedNote } | null = null;

  /** Null when the check itself broke: that holds no answer up. */
  async function check(
    text: string,
    messages: readonly Message[],
    signal: AbortSignal,
  ): Promise<CheckedNote | null> {
    if (last?.text === text) return last.checked;
    try {
      const documents = findDocuments(messages, (path) => sandbox.streamFile(path));
      const checked = await checkNote(text, { documents, findOwnJobs, signal });
      last = { text, checked };
      return checked;
    } catch (error) {
      signal.throwIfAborted();
      log.warn({ err: error }, 'evidence could not be checked');
      return null;
    }
  }

  return {
    hook: {
      async afterAgent(answer, { messages, signal }) {
        if (isSentBack) return undefined;
        const checked = await check(toPlainLines(answer), messages, signal);
        const objection = checked && toObjection(checked);
        if (!objection) return undefined;
        isSentBack = true;
        return { sendBack: objection };
      },
    },
    async finish(text, messages, signal) {
      // A run that was stopped has nothing to publish.
      if (signal.aborted) return { text, evidence: null };
      // Its lines as they will be shown: others may be quotes.
      const plain = toPlainLines(text);
      const checked = await check(plain, messages, signal);
      if (!checked) return { text, evidence: null };
      const evidence = countVerified(checked);
      if (evidence.verified < evidence.quotes) log.warn(evidence, 'a note has quotes that were not verified');
      const marked = markNote(plain, checked);
      return { text: marked === plain ? text : marked, evidence };
    },
  };
}
