// Makes a long conversation shorter: old results go to files, then the middle becomes a summary.
import { likelyTokens, messagesBytes, mostTokens, requestBytes } from './estimate.ts';
import { type Group, hasCalls, takeTail, toGroups, withoutSizes } from './groups.ts';
import type { RunView } from './hooks.ts';
import type { Message } from './messages.ts';
import type { Model, ModelRequest } from './model.ts';
import { type KeepFile, keepAnswers, pruneResults, pruneUntil } from './prune.ts';
import { listTurns, summarize, toNotes, toSummaryMessage } from './summarize.ts';

export interface Compaction {
  /** False once it could not make enough room: then the budget of the context applies. */
  mayHelp(): boolean;
  /** Before it is sent to this model. */
  isDue(request: ModelRequest, model: string): boolean;
  /** Changes the messages in place, all at once; false when they could not be made shorter, whyever. `maxTokens`: no more than that. */
  compact(messages: Message[], request: ModelRequest, run: RunView, maxTokens?: number): Promise<boolean>;
}

export interface CompactionOptions {
  contextLimit: number;
  /** Share of the limit at which it is time. */
  ratio: number;
  /** Writes the summaries; without one, what is cut is only listed. */
  side: Model | null;
  keepFile: KeepFile;
  /** Keeps the conversation as it was before something is cut out of it. If that fails, so does the run. */
  archive: (messages: readonly Message[]) => Promise<void>;
}

/** How much of the limit the end of the conversation may have that is left as it is; less with each pass. */
const TAIL_SHARES = [0.5, 0.25, 0.1];
/** How far below the ratio it should come, so that it lasts for a while. */
const SLACK = 0.7;

export function createCompaction(options: CompactionOptions): Compaction {
  const { contextLimit, ratio } = options;
  const threshold = ratio * contextLimit;
  const state: State = { notesFiles: [], isExhausted: false, cannotSummarize: options.side === null };
  return {
    mayHelp: () => !state.isExhausted,
    isDue: (request, model) =>
      !state.isExhausted && (likelyTokens(request) >= threshold || mostTokens(request, model) > contextLimit),
    async compact(messages, request, run, maxTokens = threshold) {
      const goal = Math.min(threshold, maxTokens);
      const made = await shorten(messages, request, run, goal).catch((error) => {
        run.signal.throwIfAborted();
        // From now on the budget of the context leads to an answer in time.
        state.isExhausted = true;
        run.report({ type: 'compaction-failed', reason: toReason(error) });
        return null;
      });
      run.signal.throwIfAborted();
      if (!made) return false;
      const { shorter, ...change } = made;
      // A session that can not be saved is not the conversation's fault.
      await options.archive(messages);
      run.signal.throwIfAborted();
      messages.splice(0, messages.length, ...shorter);
      run.report({ type: 'compaction', ...change });
      return true;
    },
  };

  async function shorten(
    messages: Message[],
    request: ModelRequest,
    run: RunView,
    goal: number,
  ): Promise<Shortened | null> {
    const notesFile = await options.keepFile('notes.md', toNotes(messages));
    if (notesFile !== null) state.notesFiles.push(notesFile);
    let shorter = withoutSizes(messages);
    let how: Shortened['how'] = 'pruned';
    const toTokens = measure({ ...request, messages });
    const tokensBefore = toTokens(messages);
    const fits = (left: Message[], tokens: number): boolean =>
      toTokens(left) <= tokens && mostTokens({ ...request, messages: left }, '') <= contextLimit;
    for (const share of TAIL_SHARES) {
      const parts = split(shorter, share * (goal / ratio));
      const pruned = await pruneResults(parts.middle, { keepFile: options.keepFile, signal: run.signal });
      shorter = [...parts.head, ...pruned.flat(), ...parts.tail];
      if (fits(shorter, goal * SLACK)) break;
      const cut = await cutMiddle({ ...parts, pruned }, { options, state, run });
      if (cut) ({ messages: shorter, how } = cut);
      if (fits(shorter, goal)) break;
    }
    // The last results alone may be too much.
    const isEnough = (left: Message[]): boolean => fits(left, goal);
    shorter = await pruneUntil(shorter, isEnough, { keepFile: options.keepFile, signal: run.signal });
    const tokensAfter = toTokens(shorter);
    state.isExhausted = !fits(shorter, threshold);
    if (tokensAfter >= tokensBefore) {
      run.report({ type: 'compaction-failed', reason: 'there is nothing left to cut' });
      return null;
    }
    return { shorter, how, tokensBefore, tokensAfter };
  }
}

interface Shortened {
  shorter: Message[];
  how: 'pruned' | 'summarized' | 'truncated';
  tokensBefore: number;
  tokensAfter: number;
}

/** What is left of a conversation is likely as dense as all of it is. */
function measure(request: ModelRequest): (left: readonly Message[]) => number {
  const tokensPerByte = likelyTokens(request) / requestBytes(request);
  return (messages) => Math.ceil(tokensPerByte * requestBytes({ ...request, messages }));
}

interface State {
  /** What the turns had brought before they were cut; they survive in the sandbox. */
  notesFiles: string[];
  isExhausted: boolean;
  /** A summary that failed once is not tried again. */
  cannotSummarize: boolean;
}

interface Parts {
  head: Group;
  middle: Group[];
  tail: Message[];
}

/** Head and tail stay as they are. */
function split(messages: readonly Message[], tailBytes: number): Parts {
  const [head = [], ...rest] = toGroups(messages);
  const fitting = takeTail(rest, { maxBytes: tailBytes, sizeOf: messagesBytes });
  const tail = fitting.length > 0 ? fitting : rest.slice(-1);
  return { head, middle: rest.slice(0, rest.length - tail.length), tail: tail.flat() };
}

/** Questions and answers stay, in their order; what was done in between becomes a summary. */
async function cutMiddle(
  { head, middle, pruned, tail }: Parts & { pruned: Group[] },
  { options, state, run }: { options: CompactionOptions; state: State; run: RunView },
): Promise<{ messages: Message[]; how: 'summarized' | 'truncated' } | null> {
  const done = middle.filter(hasCalls);
  if (done.length === 0) return null;
  const said = pruned.filter((group) => !hasCalls(group) && !isSummary(group)).flat();
  const previous = middle.findLast(isSummary)?.[0]?.content ?? null;
  const summary = state.cannotSummarize ? null : await trySummary(done, previous, { options, state, run });
  const text = summary ?? listTurns(pruned.filter(hasCalls), previous);
  const gone = pruned.filter((group) => hasCalls(group) || isSummary(group));
  const files = await keepAnswers(gone, { keepFile: options.keepFile, signal: run.signal });
  return {
    messages: [...head, toSummaryMessage(text, state.notesFiles, files), ...said, ...tail],
    how: summary === null ? 'truncated' : 'summarized',
  };
}

async function trySummary(
  groups: Group[],
  previous: string | null,
  { options, state, run }: { options: CompactionOptions; state: State; run: RunView },
): Promise<string | null> {
  if (!options.side) return null;
  // Nobody has counted it: each byte may be a token.
  const maxBytes = options.contextLimit;
  try {
    const summary = await summarize(groups, { side: options.side, previous, maxBytes }, run);
    if (summary === null) run.report({ type: 'compaction-failed', reason: 'the summary was no gain' });
    state.cannotSummarize = summary === null;
    return summary;
  } catch (error) {
    run.signal.throwIfAborted();
    state.cannotSummarize = true;
    run.report({ type: 'compaction-failed', reason: toReason(error) });
    return null;
  }
}

function isSummary([first]: Group): boolean {
  return first?.role === 'user' && first.isSummary === true;
}

function toReason(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
