// A request until it is answered: waits its turn, tries again where that is safe, and gives up in words.
import { PermanentError } from '../errors.ts';
import { readErrorText } from './answer.ts';
import { toWords } from './error-words.ts';
import { type Answer, describe, type Exchange, type HttpRequest } from './exchange.ts';
import { type Failure, fromBrokenConnection, fromRefusal } from './failure.ts';
import { createRepeat, type RepeatParts, type Try } from './repeat.ts';
import { askedWaitMs, usedUpMs } from './waiting.ts';

/** `read` takes in a good answer; if it fails, the whole exchange is what failed. */
export type Send = <T>(request: HttpRequest, read: (answer: Answer) => Promise<T>) => Promise<T>;

export interface SendParts extends RepeatParts {
  exchange: Exchange;
  /** Takes our secrets out of what others write to us, should they be echoed. */
  redact: (text: string) => string;
}

export function createSend({ exchange, redact, ...parts }: SendParts): Send {
  const { limiter, clock, who, log } = parts;
  const repeat = createRepeat(parts);
  return (request, read) => {
    const { signal, maxTries } = request;
    const asked = { what: describe(request), signal, maxTries };
    return repeat({ ...asked, mayRepeat: (failure) => mayRepeat(request, failure) }, () =>
      tryOnce(request, read),
    );
  };

  async function tryOnce<T>(request: HttpRequest, read: (answer: Answer) => Promise<T>): Promise<Try<T>> {
    const startedAt = clock.now();
    try {
      const answer = await exchange(toUnbroken(request));
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

/** A write that is broken off may still be done, at a time when everybody has looked: one that is sent is seen through. */
function toUnbroken(request: HttpRequest): HttpRequest {
  return request.method === 'GET' ? request : { ...request, signal: undefined };
}

/**
 * A write is repeated only when the other side surely did nothing. That goes for PUT and DELETE too, although
 * they are idempotent: a late second PUT can undo a newer edit, and a second DELETE is answered 404,
 * which reads like "was never there". The caller looks first; only it knows what it wanted.
 */
function mayRepeat({ method }: HttpRequest, { repeat }: Failure): boolean {
  return repeat === 'always' || (repeat === 'reads' && method === 'GET');
}
