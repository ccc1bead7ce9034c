import { finished, type Readable } from 'node:stream';
import { untilAborted } from '../deadline.ts';
import { RetryableError } from '../errors.ts';
import type { SourceTool } from '../sources/source.ts';
import type { ToolLimits } from './limits.ts';

/** The same tool, whose answer is whole in time or is given up, whatever its source asks for behind it. */
export function withReadDeadline(
  tool: SourceTool,
  { maxReadMs, maxStreamMs }: Pick<ToolLimits, 'maxReadMs' | 'maxStreamMs'>,
): SourceTool {
  return {
    ...tool,
    async read(args, outer) {
      const late = new AbortController();
      const signal = AbortSignal.any([outer, late.signal]);
      const timer = startTimer(late, maxReadMs);
      try {
        const answer = await untilAborted(tool.read(args, signal), signal);
        if (answer.kind === 'text' && typeof answer.body !== 'string')
          endInTime(answer.body, signal, startTimer(late, maxStreamMs));
        return answer;
      } finally {
        clearTimeout(timer);
      }
    },
  };
}

function startTimer(late: AbortController, ms: number): NodeJS.Timeout {
  const reason = new RetryableError(`the answer was not whole within ${ms / 1000} s and was given up`);
  return setTimeout(() => late.abort(reason), ms).unref();
}

function endInTime(body: Readable, signal: AbortSignal, timer: NodeJS.Timeout): void {
  const end = (): void => void body.destroy(signal.reason);
  signal.addEventListener('abort', end, { once: true });
  finished(body, { writable: false }, () => {
    clearTimeout(timer);
    signal.removeEventListener('abort', end);
  });
}
