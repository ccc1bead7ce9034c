// Reading, and only reading, from one configured address: with limits, retries and pauses.
import type { LookupFunction } from 'node:net';
import type { Readable } from 'node:stream';
import type { buildConnector } from 'undici';
import { PermanentError } from '../errors.ts';
import { createGuardedLookup, refuseForbiddenAddress } from './address.ts';
import { createAgent } from './agent.ts';
import { contentTypeOf } from './answer.ts';
import { toApiUrl, withoutSlashes } from './api-url.ts';
import { toBodyStream } from './body-stream.ts';
import { cutBody, readBytes } from './bounded-body.ts';
import { type Clock, systemClock } from './clock.ts';
import { type Answer, createExchange, describe } from './exchange.ts';
import { fromBrokenConnection } from './failure.ts';
import { createLimiter } from './limiter.ts';
import type { PageBudget } from './page-budget.ts';
import { MAX_STREAM_MS } from './read-deadline.ts';
import type { HttpLog } from './repeat.ts';
import { createSend } from './send.ts';

export interface HttpReaderOptions {
  /** Who is asked, for messages: `KubeArchive of prod`. */
  who: string;
  /** All that is read lies below it. */
  url: string;
  /** The headers that say who we are; they go to this origin only. */
  authorize?: () => Promise<Record<string, string>>;
  /** Other origins of the configuration, to which a redirect may lead, without the headers. */
  otherOrigins?: readonly string[];
  caFile?: string | undefined;
  connect?: buildConnector.BuildOptions;
  /** The longest silence: before an answer begins, and within it. */
  timeoutMs?: number;
  /** For one whole answer, and for one that is streamed. */
  maxAnswerMs?: number;
  maxStreamMs?: number;
  maxRequestsPerMinute?: number;
  maxJsonBytes?: number;
  maxStreamBytes?: number;
  log?: HttpLog | undefined;
  clock?: Clock | undefined;
  /** How names become addresses; the system's unless told. */
  lookup?: LookupFunction;
}

/** Everything throws RetryableError, PermanentError (NotFoundError for a 404) or the signal's reason. */
export interface HttpReader {
  readonly who: string;
  /** With `pages`, it is one of them, and counted. */
  getJson(path: string, query: Query, signal: AbortSignal, pages?: PageBudget): Promise<unknown>;
  /** A text that is small enough to be held in memory, and no web page. */
  getText(path: string, signal: AbortSignal): Promise<string>;
  /** Read it to its end, or destroy it. What is too long ends with a line that says so. */
  open(path: string, query: Query, signal: AbortSignal, options?: OpenOptions): Promise<Readable>;
  close(): Promise<void>;
}

export interface OpenOptions {
  /** A web page is what was asked for, and not a login that came instead. */
  mayBePage?: boolean;
}

export type Query = Readonly<Record<string, string | number | undefined>>;

const TIMEOUT_MS = 30_000;
/** KubeArchive lets ten requests for logs through in a second. */
const REQUESTS_PER_MINUTE = 500;
const MAX_JSON_BYTES = 64 * 1024 * 1024;
const MAX_STREAM_BYTES = 256 * 1024 * 1024;

export function createHttpReader(options: HttpReaderOptions): HttpReader {
  const { who, authorize = async () => ({}), timeoutMs = TIMEOUT_MS, clock = systemClock } = options;
  const { maxJsonBytes = MAX_JSON_BYTES, maxStreamBytes = MAX_STREAM_BYTES, caFile, log } = options;
  const { maxAnswerMs, maxStreamMs = MAX_STREAM_MS } = options;
  const base = new URL(options.url);
  const origins = new Set([base.origin, ...(options.otherOrigins ?? [])]);
  // All of them are named in the configuration, so they may be in the operator's own network.
  const lookup = createGuardedLookup(() => 'internal', options.lookup);
  const agent = createAgent({ timeoutMs, caFile, connect: { ...options.connect, lookup } });
  /** What was sent last to say who we are; taken out of what is answered, should it be echoed. */
  let secret = '';
  const exchange = createExchange({
    dispatcher: agent,
    origin: base.origin,
    async authorize() {
      const headers: Record<string, string> = await authorize();
      secret = headers.authorization?.replace(/^\w+ /, '') ?? '';
      return headers;
    },
    who,
    checkTarget(url) {
      if (!origins.has(url.origin))
        throw new PermanentError(
          `${who} redirected to ${url.origin}, which is not in the configuration, so nothing was sent there`,
        );
      refuseForbiddenAddress(url.hostname, 'internal');
    },
  });
  const send = createSend({
    exchange,
    limiter: createLimiter(options.maxRequestsPerMinute ?? REQUESTS_PER_MINUTE, clock, who),
    clock,
    redact: (text) => (secret === '' ? text : text.replaceAll(secret, '[token]')),
    who,
    log,
  });

  const toRequest = (path: string, query: Query, signal: AbortSignal) => ({
    method: 'GET' as const,
    url: toApiUrl(withoutSlashes(base.href), path, toSearch(query)),
    signal,
    mayLeaveOrigin: true,
    maxMs: maxAnswerMs,
  });

  return {
    who,
    async getJson(path, query, signal, pages) {
      const request = toRequest(path, query, signal);
      return send(request, async (answer) => {
        await refuseWebPage(answer, who, describe(request));
        const bytes = await readBytes(answer, maxJsonBytes, describe(request));
        pages?.spend(bytes.length);
        return parseJson(bytes, contentTypeOf(answer), `${who}, ${describe(request)},`);
      });
    },
    async getText(path, signal) {
      const request = toRequest(path, {}, signal);
      return send(request, async (answer) => {
        await refuseWebPage(answer, who, describe(request));
        return new TextDecoder().decode(await readBytes(answer, maxJsonBytes, describe(request)));
      });
    },
    async open(path, query, signal, { mayBePage = false } = {}) {
      const request = { ...toRequest(path, query, signal), maxMs: maxStreamMs };
      const what = describe(request);
      return send(request, async (answer) => {
        if (!mayBePage) await refuseWebPage(answer, who, what);
        return toBodyStream(cutBody(answer, maxStreamBytes, what), (error) =>
          signal.aborted ? signal.reason : fromBrokenConnection('GET', what, error, who).error,
        );
      });
    },
    close: () => agent.destroy(),
  };
}

function toSearch(query: Query): string {
  const search = new URLSearchParams();
  for (const [key, value] of Object.entries(query)) if (value !== undefined) search.set(key, String(value));
  return search.toString();
}

async function refuseWebPage(answer: Answer, who: string, what: string): Promise<void> {
  if (contentTypeOf(answer) !== 'text/html') return;
  await answer.body.dump();
  throw new PermanentError(
    `${what} was answered with a web page, perhaps a login, not by the API of ${who}. Check its URL and the token in the configuration`,
  );
}

function parseJson(bytes: Buffer, contentType: string, what: string): unknown {
  try {
    return JSON.parse(new TextDecoder().decode(bytes));
  } catch (cause) {
    // What calls itself JSON and is not was cut on its way, which may not happen the next time.
    if (contentType === 'application/json') throw new Error('the answer is not whole JSON', { cause });
    throw new PermanentError(`${what} answered with ${contentType || 'no content type'}, not with JSON`, {
      cause,
    });
  }
}
