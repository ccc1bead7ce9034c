import type { LookupFunction } from 'node:net';
import type { Readable } from 'node:stream';
import { formatQuery } from '@gitbeaker/requester-utils';
import { Gitlab } from '@gitbeaker/rest';
import { PermanentError } from '../errors.ts';
import { createGuardedLookup } from '../http/address.ts';
import { createAgent } from '../http/agent.ts';
import { contentTypeOf } from '../http/answer.ts';
import { toApiUrl, withoutSlashes } from '../http/api-url.ts';
import { toBodyStream } from '../http/body-stream.ts';
import { type Clock, systemClock } from '../http/clock.ts';
import { type Answer, createExchange, describe, type HttpRequest } from '../http/exchange.ts';
import { fromBrokenConnection } from '../http/failure.ts';
import { createLimiter } from '../http/limiter.ts';
import { MAX_ANSWER_MS, MAX_STREAM_MS } from '../http/read-deadline.ts';
import type { HttpLog } from '../http/repeat.ts';
import { createSend, type Send } from '../http/send.ts';
import { toBaseUrl } from './base-url.ts';
import { createFileHosts } from './file-hosts.ts';
import { readAnswer } from './read-answer.ts';
import { createRequester, type ListPages } from './requester.ts';

export interface GitlabClientOptions {
  /** As people open it in the browser; a path below the host is fine. */
  url: string;
  token: string;
  /** PEM file with authorities to believe in addition to Node's own. */
  caFile?: string;
  /** The longest silence: before an answer begins, and within it. */
  timeoutMs: number;
  /** For one whole answer, and for one that is streamed. */
  maxAnswerMs?: number;
  maxStreamMs?: number;
  maxRequestsPerMinute: number;
  /** Object stores that GitLab may send us to for logs and artifacts: `host`, `host:port`, `*.domain`. */
  fileHosts?: readonly string[];
  log?: HttpLog;
  clock?: Clock;
  /** How names become addresses; the system's unless told. */
  lookup?: LookupFunction;
}

/**
 * Everything throws RetryableError, PermanentError (NotFoundError for a 404) or the signal's reason.
 * Who pages with `all()` should give `pages` to `withSignal`: gitbeaker follows `next` for ever otherwise. Its own
 * `maxPages` counts no bytes and no empty pages, and is heeded only beside `perPage`.
 */
export interface GitlabClient {
  readonly api: Gitlab;
  /** Job logs and artifacts: `path` is below `/api/v4`. Read the body to its end, or destroy it. */
  stream(path: string, options?: StreamOptions): Promise<GitlabStream>;
  /** One cheap try: is GitLab there, and does it take our token? */
  ping(signal?: AbortSignal): Promise<void>;
  /**
   * The same client, its requests bound to this signal; gitbeaker's calls take none of their own. A write that was sent
   * is seen through.
   * With `pages`, one list can be read with it, which ends where their budget does.
   */
  withSignal(signal: AbortSignal, pages?: ListPages): GitlabClient;
  /** Ends all connections at once, for every view of this client; stop the work first. */
  close(): Promise<void>;
}

export interface StreamOptions {
  signal?: AbortSignal | undefined;
  searchParams?: Record<string, unknown>;
  /** Only a part, the last byte included. Look at the status: it is 200, not 206, when all of it comes. */
  range?: { first: number; last: number };
  /** A web page is what was asked for, and not a login that came instead. */
  mayBePage?: boolean;
}

export interface GitlabStream {
  body: Readable;
  headers: Record<string, string>;
  status: number;
}

/** For messages. */
const WHO = 'GitLab';

export function createGitlabClient(options: GitlabClientOptions): GitlabClient {
  const { token, timeoutMs, caFile, log, clock = systemClock } = options;
  const base = toBaseUrl(options.url);
  if (!/^[!-~]+$/.test(token)) throw new PermanentError('The GitLab token is empty or has blanks in it');

  const fileHosts = createFileHosts(base, options.fileHosts ?? []);
  const lookup = createGuardedLookup(fileHosts.trustOf, options.lookup);
  const agent = createAgent({ timeoutMs, caFile, connect: { lookup } });
  const { checkTarget } = fileHosts;
  const authorize = async () => ({ 'private-token': token });
  const exchange = createExchange({
    dispatcher: agent,
    origin: base.origin,
    authorize,
    checkTarget,
    who: WHO,
  });
  const limiter = createLimiter(options.maxRequestsPerMinute, clock, WHO);
  const send = createSend({
    exchange,
    limiter,
    clock,
    redact: (text) => text.replaceAll(token, '[token]'),
    who: WHO,
    log,
  });
  const { maxAnswerMs = MAX_ANSWER_MS, maxStreamMs = MAX_STREAM_MS } = options;
  const host = withoutSlashes(base.href);
  return createView({ host, send, maxAnswerMs, maxStreamMs, close: () => agent.destroy() }, undefined);
}

interface Shared {
  host: string;
  send: Send;
  maxAnswerMs: number;
  maxStreamMs: number;
  close(): Promise<void>;
}

function createView(shared: Shared, bound: AbortSignal | undefined, pages?: ListPages): GitlabClient {
  const { host, maxAnswerMs, maxStreamMs, close } = shared;
  const send: Send = (request, read) => shared.send({ maxMs: maxAnswerMs, ...request }, read);
  const toRequest = (path: string, signal: AbortSignal | undefined, query = ''): HttpRequest => ({
    method: 'GET',
    url: toApiUrl(`${host}/api/v4`, path, query),
    signal: eitherOf(bound, signal),
  });

  return {
    // No token for gitbeaker, it is added on the wire; and no timer: its timeout would cover all pages
    // of a list together.
    api: new Gitlab({ host, requesterFn: createRequester(send, bound, pages), queryTimeout: null }),
    async stream(path, { signal, searchParams, range, mayBePage = false } = {}) {
      const asked = toRequest(path, signal, formatQuery(searchParams));
      const request = { ...asked, range, mayLeaveOrigin: true, maxMs: maxStreamMs };
      return send(request, async (answer) => toStream(request, answer, mayBePage));
    },
    async ping(signal) {
      const request = { ...toRequest('version', signal), maxTries: 1 };
      await send(request, (answer) => readAnswer(answer, describe(request)));
    },
    withSignal: (signal, pages) => createView(shared, eitherOf(bound, signal), pages),
    close,
  };
}

function eitherOf(one: AbortSignal | undefined, other: AbortSignal | undefined): AbortSignal | undefined {
  return one && other ? AbortSignal.any([one, other]) : (one ?? other);
}

async function toStream(request: HttpRequest, answer: Answer, mayBePage: boolean): Promise<GitlabStream> {
  const what = describe(request);
  if (!mayBePage && contentTypeOf(answer) === 'text/html') {
    await answer.body.dump();
    const how = answer.isForeign ? 'redirected to' : 'answered with';
    throw new PermanentError(`${what} was ${how} a web page, perhaps a login. Check GitLab's URL`);
  }
  const body = toBodyStream(answer.body, (error) =>
    request.signal?.aborted ? request.signal.reason : fromBrokenConnection('GET', what, error, WHO).error,
  );
  return { body, headers: answer.headers, status: answer.status };
}
