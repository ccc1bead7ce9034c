import { Readable } from 'node:stream';
import { setImmediate, setTimeout } from 'node:timers/promises';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';

/** How a request goes wrong. Everything but the last two happens before GitLab has done anything. */
export type Fault =
  | { status: 429; retryAfter: number }
  | { status: 500 | 502 | 503 | 504 }
  /** Sent elsewhere, such as to the object store that has the file. */
  | { status: 302; location: string }
  /** A web page where the API should be: a login, or a proxy that is not set up. */
  | 'web-page'
  /** Only slow: it is answered after that time. */
  | { delayMs: number }
  /** The connection ends without an answer and nothing was done. */
  | 'reset'
  /** Carried out; the answer promises its full length and stops half way. */
  | 'half'
  /** Carried out, and the connection ends without an answer. */
  | 'commit-then-drop';

export type FaultMatch = {
  method?: string;
  /** A string matches any path that contains it. */
  path?: string | RegExp;
  /** How many requests it strikes; all of them unless told. */
  times?: number;
};

export type Faults = {
  fail(fault: { match?: FaultMatch; with: Fault }): { lift(): void };
};

/** Breaks requests on demand. An older fault strikes first. */
export function breakOnDemand(app: FastifyInstance): Faults {
  const armed = new Set<Armed>();
  const struck = new WeakMap<FastifyRequest, Fault>();
  app.addHook('onRequest', async (request, reply) => {
    const fault = strike(armed, request);
    if (fault === undefined) return undefined;
    struck.set(request, fault);
    return refuse(fault, request, reply);
  });
  app.addHook('preHandler', async (request) => {
    const fault = struck.get(request);
    // Only now is the request read whole: it is carried out even for a client that gives up waiting.
    if (typeof fault === 'object' && 'delayMs' in fault)
      await setTimeout(fault.delayMs, undefined, { ref: false });
  });
  app.addHook('onSend', async (request, reply, payload) => {
    const fault = struck.get(request);
    if (fault === 'half') return cutInHalf(reply, payload);
    if (fault === 'commit-then-drop') request.raw.socket.destroy();
    return payload;
  });
  return {
    fail: ({ match = {}, with: fault }) => {
      const one: Armed = { match, fault, left: match.times ?? Number.POSITIVE_INFINITY };
      armed.add(one);
      return { lift: () => void armed.delete(one) };
    },
  };
}

type Armed = { match: FaultMatch; fault: Fault; left: number };

function strike(armed: Set<Armed>, request: FastifyRequest): Fault | undefined {
  const one = [...armed].find(({ match }) => matches(match, request));
  if (one === undefined) return undefined;
  one.left -= 1;
  if (one.left === 0) armed.delete(one);
  return one.fault;
}

function matches(match: FaultMatch, request: FastifyRequest): boolean {
  if (match.method !== undefined && match.method.toUpperCase() !== request.method) return false;
  if (match.path === undefined) return true;
  const path = request.url.split('?', 1)[0] ?? '';
  return typeof match.path === 'string' ? path.includes(match.path) : match.path.test(path);
}

async function refuse(fault: Fault, request: FastifyRequest, reply: FastifyReply): Promise<unknown> {
  if (fault === 'reset') {
    reply.hijack();
    request.raw.socket.resetAndDestroy();
    return reply;
  }
  if (fault === 'web-page') return reply.type('text/html').send('<html><body>Sign in</body></html>');
  if (typeof fault === 'string' || 'delayMs' in fault) return undefined;
  reply.code(fault.status);
  if (fault.status === 302) return reply.header('location', fault.location).send();
  if (fault.status === 429) {
    const headers = { 'retry-after': String(fault.retryAfter), 'ratelimit-remaining': '0' };
    return reply.headers(headers).type('text/plain').send('Retry later\n');
  }
  if (fault.status === 500) return reply.send({ message: '500 Internal Server Error' });
  // These come from the proxy before GitLab, which does not speak JSON.
  return reply.type('text/html').send(`<html><body>GitLab: ${fault.status}</body></html>`);
}

async function cutInHalf(reply: FastifyReply, payload: unknown): Promise<Readable> {
  const whole = await toBuffer(payload);
  reply.header('content-length', whole.length);
  const { socket } = reply.request.raw;
  return Readable.from(
    (async function* () {
      yield whole.subarray(0, Math.floor(whole.length / 2));
      // The half has to arrive before the cut, or it would be no half.
      while (socket.writableLength > 0 && !socket.destroyed) await setImmediate();
      socket.destroy();
    })(),
  );
}

async function toBuffer(payload: unknown): Promise<Buffer> {
  if (payload instanceof Readable) return Buffer.concat(await payload.toArray());
  return Buffer.from(typeof payload === 'string' || Buffer.isBuffer(payload) ? payload : '');
}
