import type { FastifyReply, FastifyRequest } from 'fastify';
import { identify } from './auth.ts';
import type { World } from './state.ts';

/** One request to the API, as the server saw it. It never holds a token. */
export type LoggedRequest = {
  method: string;
  path: string;
  query: string;
  /** Whose token it carried; `null` for none or one that is not valid. */
  username: string | null;
  /** `null` while there is no answer, and for good when the connection was cut before it. */
  status: number | null;
};

export type RequestLog = {
  /** In the order of arrival. */
  readonly entries: LoggedRequest[];
  /** For the hook `onRequest`. */
  arrived(request: FastifyRequest): Promise<void>;
  /** For the hook `onSend`. */
  answered(request: FastifyRequest, reply: FastifyReply, payload: unknown): Promise<unknown>;
};

export function createRequestLog(world: World): RequestLog {
  const entries: LoggedRequest[] = [];
  const byRequest = new WeakMap<FastifyRequest, LoggedRequest>();
  return {
    entries,
    arrived: async (request) => {
      const entry = toEntry(world, request);
      byRequest.set(request, entry);
      entries.push(entry);
    },
    answered: async (request, reply, payload) => {
      const entry = byRequest.get(request);
      if (entry && !request.raw.socket.destroyed) entry.status = reply.statusCode;
      return payload;
    },
  };
}

function toEntry(world: World, request: FastifyRequest): LoggedRequest {
  const url = new URL(request.url, 'http://pretend');
  for (const name of ['private_token', 'access_token', 'job_token']) url.searchParams.delete(name);
  return {
    method: request.method,
    path: url.pathname,
    query: url.searchParams.toString(),
    username: identify(world, request)?.username ?? null,
    status: null,
  };
}
