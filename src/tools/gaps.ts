import { finished, type Readable } from 'node:stream';
import { cutWords } from '../cut-words.ts';
import { NotFoundError } from '../errors.ts';
import type { SourceTool } from '../sources/source.ts';

/** What a source could not give in this job, whether or not the model speaks of it. */
export interface Gaps {
  /** The same tool, whose failures are remembered until the same call works. */
  watch(tool: SourceTool): SourceTool;
  /** The calls that never worked, or only in part, each once, in the order they were made. */
  list(): string[];
}

/** Of the reason for a part that is missing. */
const MAX_GAP = 200;

export function createGaps(): Gaps {
  const isOpen = new Map<string, boolean>();
  /** Of the calls that worked, but not everywhere. */
  const partial = new Map<string, readonly string[]>();
  return {
    list: () =>
      [...isOpen.entries()].flatMap(([call, open]) =>
        open ? [call] : (partial.get(call) ?? []).map((gap) => `${call}, in part: ${cutWords(gap, MAX_GAP)}`),
      ),
    watch: (tool) => ({
      ...tool,
      async read(args, signal) {
        const call = toCall(tool.name, args);
        // Now, because many are read at once, and fail in another order each time.
        if (!isOpen.has(call)) isOpen.set(call, false);
        const miss = (error: unknown): void => {
          // That there is no such thing is an answer.
          if (!signal.aborted && !(error instanceof NotFoundError)) isOpen.set(call, true);
        };
        try {
          const answer = await tool.read(args, signal);
          isOpen.set(call, false);
          // Of a text the list grows while it is read.
          partial.set(call, answer.gaps ?? []);
          if (answer.kind === 'text' && typeof answer.body !== 'string') onFailure(answer.body, miss);
          return answer;
        } catch (error) {
          miss(error);
          throw error;
        }
      },
    }),
  };
}

function onFailure(body: Readable, miss: (error: unknown) => void): void {
  finished(body, { writable: false }, (error) => {
    // Whoever has read enough closes it early; that is no failure.
    if (error && error.code !== 'ERR_STREAM_PREMATURE_CLOSE') miss(error);
  });
}

function toCall(name: string, args: unknown): string {
  const text = JSON.stringify(args);
  return text === '{}' ? name : `${name} ${text}`;
}
