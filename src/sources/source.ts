// The port of a data source: tools that only read, pinned to the job's own project and merge request.
import type { Readable } from 'node:stream';
import type { z } from 'zod';

export interface Source {
  readonly name: string;
  /** For the system prompt: when to use what, and the traps. */
  readonly notes: string;
  readonly tools: readonly SourceTool[];
  /** Tools that should be there and are not, in this job: a gap, whatever is asked for. */
  readonly missing?: { tools: readonly string[]; why: string };
}

export interface SourceTool<Args = never> {
  /** Begins with the name of the source. */
  readonly name: string;
  readonly description: string;
  readonly schema: z.ZodType<Args>;
  /** Description and schema are a server's own words. */
  readonly isForeign?: boolean;
  /** Throws what the source throws; whoever calls turns it into a gap that is named. */
  read(args: Args, signal: AbortSignal): Promise<SourceAnswer>;
}

/** Small answers as values, large ones as streams of text. */
export type SourceAnswer = JsonAnswer | TextAnswer;

export interface JsonAnswer {
  kind: 'json';
  value: unknown;
  /** Places that could not be asked, so that something may be missing; the answer itself says so too. */
  gaps?: readonly string[];
}

export interface TextAnswer {
  kind: 'text';
  body: Readable | string;
  /** For previews: a job's log, a diff, … */
  of: 'log' | 'diff' | 'text';
  /** Of a log: one of the same job that passed, to tell what is new; null when there is none. For long logs only. */
  findPassing?: (signal: AbortSignal) => Promise<PassingLog | null>;
  /** As in JSON, known when the body has ended. */
  gaps?: readonly string[];
}

export interface PassingLog {
  /** In words for the model, such as `job 77 of main, which passed`. */
  name: string;
  body: Readable;
}
