// One request and its answer on the wire, redirects included. Credentials are added here and nowhere else.
import type { IncomingHttpHeaders } from 'node:http';
import { type Dispatcher, request } from 'undici';
import { PermanentError } from '../errors.ts';
import { MAX_ANSWER_MS, startReadDeadline } from './read-deadline.ts';

export type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';

export interface HttpRequest {
  method: Method;
  url: URL;
  headers?: Record<string, string>;
  body?: string | Uint8Array;
  signal?: AbortSignal | undefined;
  /** Only these bytes, the last one included; who does not know parts answers 200 with all. */
  range?: { first: number; last: number } | undefined;
  /** Files may live in an object store: go there, without the token. */
  mayLeaveOrigin?: boolean;
  maxTries?: number;
  /** Until the answer is whole, redirects included. */
  maxMs?: number | undefined;
}

export interface Answer {
  status: number;
  headers: Record<string, string>;
  body: Dispatcher.ResponseData['body'];
  /** It came from another origin, asked without our token. */
  isForeign: boolean;
}

export type Exchange = (request: HttpRequest) => Promise<Answer>;

const MAX_REDIRECTS = 5;
const ANONYMOUS_HEADERS = { 'user-agent': 'hummingbird', accept: '*/*', 'accept-encoding': 'identity' };

export interface ExchangeParts {
  dispatcher: Dispatcher;
  /** The only one that gets the credentials. */
  origin: string;
  /** The headers that say who we are. */
  authorize: () => Promise<Record<string, string>>;
  /** Throws for an address that must not be asked; it sees every redirect. */
  checkTarget?: (url: URL) => void;
  /** The service that is asked, for messages. */
  who: string;
}

export function createExchange(parts: ExchangeParts): Exchange {
  const { dispatcher, origin, authorize, checkTarget, who } = parts;
  return async (asked) => {
    const deadline = startReadDeadline(asked.maxMs ?? MAX_ANSWER_MS, asked.signal);
    try {
      const answer = await follow(asked, deadline.signal);
      answer.body.once('close', deadline.stop);
      return answer;
    } catch (error) {
      deadline.stop();
      throw error;
    }
  };

  async function follow(asked: HttpRequest, signal: AbortSignal): Promise<Answer> {
    let { url } = asked;
    let isForeign = false;
    for (let redirects = 0; redirects <= MAX_REDIRECTS; redirects += 1) {
      // Once left, the origin is not trusted again: whoever sent us back may have chosen the path.
      isForeign ||= url.origin !== origin;
      checkTarget?.(url);
      const anonymous = { ...ANONYMOUS_HEADERS, ...toRangeHeader(asked) };
      const response = await request(url, {
        dispatcher,
        method: asked.method,
        headers: isForeign ? anonymous : { ...asked.headers, ...anonymous, ...(await authorize()) },
        body: asked.body ?? null,
        signal,
      });
      const headers = toHeaders(response.headers);
      if (!isRedirect(response.statusCode)) {
        return { status: response.statusCode, headers, body: response.body, isForeign };
      }
      await response.body.dump();
      url = toRedirectTarget(asked, response.statusCode, URL.parse(headers.location ?? '', url.href), who);
    }
    throw new PermanentError(`${describe(asked)} was redirected more than ${MAX_REDIRECTS} times`);
  }
}

/** For messages and logs: never the query, it may hold a secret. */
export function describe({ method, url }: Pick<HttpRequest, 'method' | 'url'>): string {
  return `${method} ${url.pathname}`;
}

function toRangeHeader({ range }: HttpRequest): Record<string, string> {
  return range ? { range: `bytes=${range.first}-${range.last}` } : {};
}

function isRedirect(status: number): boolean {
  return [301, 302, 303, 307, 308].includes(status);
}

function toRedirectTarget(asked: HttpRequest, status: number, target: URL | null, who: string): URL {
  if (!target) throw new PermanentError(`${describe(asked)} was redirected to an invalid address`);
  const isWrite = asked.method !== 'GET';
  const isSameOrigin = target.origin === asked.url.origin;
  // After 301, 302 and 303 a write would have to become a read, and its caller would believe it was done.
  const isAllowed = isWrite
    ? isSameOrigin && (status === 307 || status === 308)
    : isSameOrigin || (asked.mayLeaveOrigin === true && /^https?:$/.test(target.protocol));
  if (isAllowed) return target;
  throw new PermanentError(
    `${describe(asked)} was redirected (${status}) to ${target.origin}${target.pathname}, which is not followed with a token. Check ${who}'s URL in the configuration`,
  );
}

function toHeaders(headers: IncomingHttpHeaders): Record<string, string> {
  const entries = Object.entries(headers).filter((entry) => entry[1] !== undefined);
  return Object.fromEntries(entries.map(([key, value]) => [key, [value].flat().join(', ')]));
}
