// What happened to the session between runs, in words for the model. They are part of the saved conversation: what
// follows was said by somebody who knew, and a run that is taken up again finds that it was told.
import { isQuestion } from '../agent/history.ts';
import type { Message } from '../agent/messages.ts';

export const SESSION_LOST =
  '[The earlier conversation is no longer available. Start afresh with what can be read now.]';

export const FILES_LOST =
  '[The files of this session are gone: nothing from before is left in /tmp/data and /tmp/_out. Fetch again what you need.]';

export function filesLeftOut(paths: readonly string[]): string {
  return `[These files were too large to be kept with the session and are gone: ${paths.join(', ')}. Fetch again what you need.]`;
}

/** Adds it to what is asked in this run. */
export function addNotice(messages: Message[], notice: string, noteId: number | undefined): void {
  const last = messages.at(-1);
  if (last && isQuestion(last)) messages.splice(-1, 1, { ...last, content: `${last.content}\n\n${notice}` });
  else messages.push({ role: 'user', content: notice, ...(noteId !== undefined && { noteId }) });
}

export function hasNotice(messages: readonly Message[], notice: string, noteId: number | undefined): boolean {
  return messages.some(
    (message) => isQuestion(message) && message.noteId === noteId && message.content.includes(notice),
  );
}
