import { cutWords } from '../cut-words.ts';
import { PermanentError, RetryableError } from '../errors.ts';
import { SandboxFullError } from '../sandbox/sandbox.ts';

/** What went wrong with one call, in words for the model, which can do something about it. */
export class ToolError extends Error {
  override readonly name = 'ToolError';
  /** Beside the message: a right call, the tools there are, … */
  readonly details: Record<string, unknown>;

  constructor(message: string, details: Record<string, unknown> = {}, options: { cause?: unknown } = {}) {
    super(message, options);
    this.details = details;
  }
}

/** The failure as a result. Throws it again when the sandbox itself is broken: no model can mend that. */
export function toErrorResult(tool: string, error: unknown): Record<string, unknown> {
  if (error instanceof ToolError) return { error: error.message, ...error.details };
  if (error instanceof SandboxFullError) {
    const advice = 'remove files you no longer need with sandbox_exec, or fetch less';
    return { error: `${tool}: ${error.message} (the sandbox has no room left: ${advice})` };
  }
  if (error instanceof RetryableError || error instanceof PermanentError) throw error;
  return { error: `${tool}: ${wordsOf(error)}` };
}

/** A source that could not answer, as a gap the model can name. */
export function toGap(tool: string, cause: unknown): ToolError {
  return new ToolError(`${tool}: ${wordsOf(cause)} (${adviceFor(cause)})`, {}, { cause });
}

function adviceFor(cause: unknown): string {
  if (cause instanceof RetryableError) {
    return 'it was tried several times; go on with what you have, try once more later, and name the gap in your answer if it stays';
  }
  if (cause instanceof PermanentError) {
    return 'the same call will fail again; check its ids against the lists, or name in your answer what was not available';
  }
  return 'unexpected; try another way, or name in your answer what was not available';
}

const MAX_WORDS = 1_000;

function wordsOf(error: unknown): string {
  const words = error instanceof Error ? error.message || error.name : String(error);
  return cutWords(words, MAX_WORDS);
}
