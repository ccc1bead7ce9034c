const KEEP_MS = 60_000;
const MAX_LOAD_MS = 60_000;

/**
 * `load`, but whoever asks the same within a minute gets the same answer; a failure is not remembered. What is shared
 * does not end with the signal of the one who happened to ask first.
 */
export function shareAnswers<Question, Answer>(
  load: (question: Question, signal: AbortSignal) => Promise<Answer>,
): (question: Question, signal: AbortSignal) => Promise<Answer> {
  const shared = new Map<string, { answer: Promise<Answer>; untilMs: number }>();
  return async (question, signal) => {
    signal.throwIfAborted();
    const key = JSON.stringify(question);
    const known = shared.get(key);
    if (known && performance.now() < known.untilMs) return known.answer;
    const answer = load(question, AbortSignal.timeout(MAX_LOAD_MS));
    const entry = { answer, untilMs: performance.now() + KEEP_MS };
    shared.set(key, entry);
    answer.catch(() => {
      if (shared.get(key) === entry) shared.delete(key);
    });
    return answer;
  };
}
