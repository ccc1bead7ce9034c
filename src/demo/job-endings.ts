// The service's log, as far as the story needs it: how its jobs ended, and what went wrong on the way.
import { EventEmitter, once } from 'node:events';
import { type Logger, pino } from 'pino';
import { z } from 'zod';

export interface JobEnding {
  ending: string;
  reason: string;
}

export interface JobEndings {
  /** For the service to write to. */
  log: Logger;
  /** How the next job of this kind ends, counted from now; one that will be tried again has not ended. */
  next(kind: 'analyze' | 'reply', signal: AbortSignal): Promise<JobEnding>;
}

const WARN = pino.levels.values.warn ?? 40;

export function createJobEndings(onTrouble: (text: string) => void): JobEndings {
  const endings = new EventEmitter();
  const read = (text: string): void => {
    const line = LogLine.parse(JSON.parse(text));
    const { level, msg, err, kind = '', ending = 'failed', reason = err?.message ?? '' } = line;
    if (level >= WARN) onTrouble(err ? `${msg}: ${err.message}` : msg);
    if (msg === 'job ended' || (msg === 'job failed' && !line.willRetry))
      endings.emit(kind, { ending, reason } satisfies JobEnding);
  };
  return {
    log: pino({ level: 'info', base: null }, { write: read }),
    next: async (kind, signal) => (await once(endings, kind, { signal }))[0],
  };
}

const LogLine = z.object({
  level: z.number(),
  msg: z.string().default(''),
  kind: z.string().optional(),
  ending: z.string().optional(),
  reason: z.string().optional(),
  willRetry: z.boolean().optional(),
  err: z.object({ message: z.string() }).optional(),
});
