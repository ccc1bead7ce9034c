// What was said before, ready to go on: loaded, repaired if need be, and with what is asked now.
import type { Logger } from 'pino';
import { isQuestion } from '../agent/history.ts';
import type { AssistantMessage, Message, UserMessage } from '../agent/messages.ts';
import { repairHistory } from '../agent/repair-history.ts';
import { type Session, SessionCorruptError, type SessionStore } from '../session/session-store.ts';
import type { Failure } from '../sources/gitlab/commit-failures.ts';
import { addNotice, SESSION_LOST } from './notices.ts';
import { isBoundTo, type SessionSubject } from './session-meta.ts';
import type { Spool } from './spool.ts';
import { toFurtherFailures } from './tell-of-failures.ts';

export interface Asked extends SessionSubject {
  /** What every session begins with. */
  event: UserMessage;
  /** What an analysis is about; a question is about whatever was said. */
  failures: readonly Failure[];
  /** What a person asks; null for the analysis itself. */
  question: { noteId: number; text: string } | null;
  /** There was a session before, so there should be one now. */
  resumes: boolean;
}

export interface Conversation {
  session: Session | null;
  messages: Message[];
  /** A person asks, and there was an answer before. */
  isContinuation: boolean;
}

export async function openConversation(
  deps: { store: SessionStore; spool?: Spool | null; log: Logger },
  asked: Asked,
): Promise<Conversation> {
  const { sessionId, event, failures, question, resumes } = asked;
  await deps.spool?.deliver(sessionId);
  const { session, isCorrupt } = await loadSession(deps, asked);
  const messages = session ? repair(session, event, deps.log.child({ session: sessionId })) : [event];
  if (question) ask(messages, { role: 'user', content: question.text, noteId: question.noteId });
  else askOfFailures(messages, event, failures);
  if (isCorrupt || (resumes && !session)) addNotice(messages, SESSION_LOST, question?.noteId);
  return { session, messages, isContinuation: question !== null && isAnswered(messages, question.noteId) };
}

/** The answer to this note, or to the event itself: the last word before somebody asked something else. */
export function findAnswer(messages: Message[], noteId: number | undefined): AssistantMessage | null {
  const asked = messages.findLastIndex((message) => isQuestion(message) && message.noteId === noteId);
  if (asked === -1) return null;
  const following = messages.findIndex((message, index) => index > asked && isQuestion(message));
  const last = messages[(following === -1 ? messages.length : following) - 1];
  return last?.role === 'assistant' && last.toolCalls.length === 0 ? last : null;
}

/** What has failed, as far as an answer takes it into account: an answer is to all that was told before it. */
export function findCovered(messages: Message[]): Set<string> {
  const events = [...messages.entries()].filter(([, message]) => isEvent(message));
  const answered = events.findLastIndex(
    (_, at) => findAnswer(messages.slice(0, events[at + 1]?.[0]), undefined) !== null,
  );
  return new Set(events.slice(0, answered + 1).flatMap(([, message]) => failuresOf(message)));
}

/** A session that can not be read, or is not for whom it would be opened now, is as good as none, but it is not hidden. */
async function loadSession(
  { store, log }: { store: SessionStore; log: Logger },
  subject: SessionSubject,
): Promise<{ session: Session | null; isCorrupt: boolean }> {
  const { sessionId: id } = subject;
  try {
    const session = await store.load(id);
    if (!session || isFor(session, subject)) return { session, isCorrupt: false };
    log.warn(
      { session: id },
      'session is of another place or for fewer people, set aside and started afresh',
    );
    await store.setAside(id, 'old');
    return { session: null, isCorrupt: false };
  } catch (error) {
    if (!(error instanceof SessionCorruptError)) throw error;
    log.error({ err: error, session: id }, 'session can not be used, set aside and started afresh');
    await store.setAside(id, 'bad');
    return { session: null, isCorrupt: true };
  }
}

/** Nothing may be known of whom it was for: its run broke off at once, or that was damaged. Then it is for members only. */
function isFor({ meta }: Session, subject: SessionSubject): boolean {
  return meta ? isBoundTo(meta, subject) : subject.visibility === 'private';
}

function repair({ context, metaError }: Session, event: UserMessage, log: Logger): Message[] {
  if (metaError) log.warn({ err: metaError }, 'meta of the session can not be used, begun anew');
  const { messages, repairs } = repairHistory(context.messages, event);
  if (repairs.length > 0) log.warn({ repairs }, 'conversation repaired');
  return messages;
}

/** Asked before and neither answered nor the last thing asked: something else came between, so it is asked again. */
function ask(messages: Message[], question: UserMessage): void {
  const lastAsked = messages.findLast(isQuestion);
  const isOpen = lastAsked?.noteId === question.noteId || findAnswer(messages, question.noteId) !== null;
  if (!isOpen) messages.push(question);
}

/** What fails on the same commit later is told in the same conversation, and all of it is answered anew. */
function askOfFailures(messages: Message[], event: UserMessage, failures: readonly Failure[]): void {
  const known = new Set(messages.filter(isEvent).flatMap(failuresOf));
  const fresh = failures.filter(({ id }) => !known.has(id));
  const isOpen = messages.findLast(isQuestion)?.noteId === undefined;
  if (!isOpen && findAnswer(messages, undefined) === null) messages.push(event);
  else if (fresh.length > 0) messages.push(toFurtherFailures(fresh));
}

function isEvent(message: Message): boolean {
  return isQuestion(message) && message.noteId === undefined;
}

function failuresOf(message: Message): string[] {
  return (message.role === 'user' && message.failures) || [];
}

/** Before this note: what was said since, in an earlier try, is no history. */
function isAnswered(messages: Message[], noteId: number): boolean {
  const asked = messages.findIndex((message) => isQuestion(message) && message.noteId === noteId);
  return messages.slice(0, asked).some(({ role }) => role === 'assistant');
}
