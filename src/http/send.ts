// A request until it is answered: waits its turn, tries again where that is safe, and gives up in words.
import { PermanentError } from '../errors.ts';
import { readErrorText } from './answer.ts';
import type { Clock } from './clock.ts';
import { toWords } from './error-words.ts';
import { type Answer, describe, type Exchange, type HttpRequest } from './exchange.ts';
import { type Failure, fromBrokenConnection, fromRefusal } from './failure.ts';
import type { Limiter } from './limiter.ts';
import { askedWaitMs, backoffMs, MAX_SLEEP_MS, usedUpMs } from './waiting.ts';

/** Constant message, fields beside it. */
export interface HttpLog {
  debug(fields: Record<string, unknown>, message: string): void;
  warn(fields: Record<string, unknown>, message: string): void;
}

/** `read` takes in a good answer; if it fails, the whole exchange is what failed. */
export type Send = <T>(request: HttpRequest, read: (answer: Answer) => Promise<T>) => Promise<T>;

export interface SendParts {
  exchange: Exchange;
  limiter: Limiter;
  clock: Clock;
  /** Takes our secrets out of what others write to us, should they be echoed. */
  redact: (text: string) => string;
  /** The service that is asked, for messages. */
  who: string;
  log?: HttpLog | undefined;
}

const MAX_TRIES = 4;

export function createSend({ exchange, limiter, clock, redact, who, log }: SendParts): Send {
  return async (request, read) => {
    const what = describe(request);
    for (let attempt = 1; ; attempt += 1) {
      await limiter.take(what, request.signal);
      const result = await tryOnce(request, read);
      if (result.kind === 'answered') return result.value;

      const { failure } = result;
      const waitMs = Math.max(failure.askedMs ?? 0, backoffMs(attempt));
      if (result.status === 429) limiter.pause(waitMs);
      const isLast = attempt === (request.maxTries ?? MAX_TRIES);
      if (isLast || waitMs > MAX_SLEEP_MS || !mayRepeat(request, failure)) throw failure.error;
      log?.warn(
        { request: what, attempt, waitMs, error: failure.error.message },
        `${who} request is repeated`,
      );
      await clock.sleep(waitMs, request.signal);
    }
  };

  async function tryOnce<T>(request: HttpRequest, read: (answer: Answer) => Promise<T>): Promise<Try<T>> {
    const startedAt = clock.now();
    try {
      const answer = await exchange(request);
      const { status } = answer;
      log?.debug(
        { request: describe(request), status, durationMs: clock.now() - startedAt },
        `${who} answered`,
      );
      if (!answer.isForeign) limiter.pause(usedUpMs(answer.headers));
      if (status >= 200 && status < 300) return { kind: 'answered', value: await read(answer) };
      return { kind: 'failed', ...(await toRefused(request, answer)) };
    } catch (error) {
      request.signal?.throwIfAborted();
      if (error instanceof PermanentError) throw error;
      return { kind: 'failed', failure: fromBrokenConnection(request.method, describe(request), error, who) };
    }
  }

  async function toRefused(request: HttpRequest, answer: Answer) {
    const { status, headers, isForeign } = answer;
    const words = toWords(redact(await readErrorText(answer)));
    request.signal?.throwIfAborted();
    const askedMs = status === 429 || status === 503 ? askedWaitMs(headers) : undefined;
    const refusal = { status, words, isForeign, askedMs };
    const failure = fromRefusal(request.method, describe(request), refusal, who);
    return isForeign ? { failure } : { failure, status };
  }
}

type Try<T> = { kind: 'answered'; value: T } | { kind: 'failed'; failure: Failure; status?: number };

/**
 * A write is repeated only when the other side surely did nothing. That goes for PUT and DELETE too, although
 * they are idempotent: a late second PUT can undo a newer edit, and a second DELETE is answered 404,
 * which reads like "was never there". The caller looks first; only it knows what it wanted.
 */
function mayRepeat({ method }: HttpRequest, { repeat }: Failure): boolean {
  return repeat === 'always' || (repeat === 'reads' && method === 'GET');
}
