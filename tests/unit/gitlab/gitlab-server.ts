// A real HTTP(S) server on loopback that plays GitLab, and a clock that never makes anyone wait.
import type { LookupAddress } from 'node:dns';
import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import type { AddressInfo, LookupFunction } from 'node:net';
import type { TlsOptions } from 'node:tls';
import { onTestFinished } from 'vitest';
import {
  createGitlabClient,
  type GitlabClient,
  type GitlabClientOptions,
} from '../../../src/gitlab/client.ts';
import type { Clock } from '../../../src/http/clock.ts';

export const TOKEN = 'glpat-very-secret-token';

export interface SeenRequest {
  method: string;
  path: string;
  query: URLSearchParams;
  token: string | undefined;
  authorization: string | undefined;
  contentType: string | undefined;
  body: string;
}

type Handler = (request: SeenRequest, response: ServerResponse, count: number) => unknown;

/** Runs until the test ends. `count` tells the handler which request it is, beginning with 1. */
export async function startServer(handler: Handler, tls?: TlsOptions) {
  const requests: SeenRequest[] = [];
  const listener = async (incoming: IncomingMessage, response: ServerResponse) => {
    const request = await toSeenRequest(incoming);
    requests.push(request);
    await handler(request, response, requests.length);
  };
  const server = tls ? createTlsServer(tls, listener) : createServer(listener);
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => {
    server.close();
    server.closeAllConnections();
  });
  const { port } = server.address() as AddressInfo;
  return { url: `${tls ? 'https' : 'http'}://127.0.0.1:${port}`, requests };
}

export function createClient(url: string, options: Partial<GitlabClientOptions> = {}): GitlabClient {
  const client = createGitlabClient({
    url,
    token: TOKEN,
    timeoutMs: 5_000,
    maxRequestsPerMinute: 6_000,
    clock: createFakeClock(),
    ...options,
  });
  onTestFinished(() => client.close());
  return client;
}

export interface FakeClock extends Clock {
  readonly slept: number[];
}

/** Sleeping only moves the hands. */
export function createFakeClock(): FakeClock {
  const slept: number[] = [];
  let now = 0;
  return {
    slept,
    now: () => now,
    async sleep(ms, signal) {
      signal?.throwIfAborted();
      slept.push(ms);
      now += ms;
    },
  };
}

export function answerJson(response: ServerResponse, body: unknown, head: Head = {}): void {
  const { status = 200, headers = {} } = head;
  response.writeHead(status, { 'content-type': 'application/json', ...headers }).end(JSON.stringify(body));
}

interface Head {
  status?: number;
  headers?: Record<string, string>;
}

/** The error a promise must end in; the test fails when there is none. */
export async function failureOf(promise: Promise<unknown>): Promise<unknown> {
  const value = await promise.then(
    () => undefined,
    (error: unknown) => ({ error }),
  );
  if (!value) throw new Error('expected a failure');
  return value.error;
}

async function toSeenRequest(incoming: IncomingMessage): Promise<SeenRequest> {
  const { pathname, searchParams } = new URL(incoming.url ?? '', 'http://gitlab');
  const chunks: Buffer[] = [];
  for await (const chunk of incoming) chunks.push(chunk);
  return {
    method: incoming.method ?? '',
    path: pathname,
    query: searchParams,
    token: incoming.headers['private-token']?.toString(),
    authorization: incoming.headers.authorization,
    contentType: incoming.headers['content-type'],
    body: Buffer.concat(chunks).toString(),
  };
}

/** Every name has this address. */
export function resolveTo(address: string): LookupFunction {
  const found: LookupAddress = { address, family: address.includes(':') ? 6 : 4 };
  return (_hostname, options, callback) =>
    options.all ? callback(null, [found]) : callback(null, found.address, found.family);
}
