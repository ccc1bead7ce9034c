// Between a client and the S3 server: what a network and a service can do to a request.
import { once } from 'node:events';
import { createServer, type IncomingMessage, request, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { inject, onTestFinished } from 'vitest';

export interface Seen {
  method: string;
  /** Without the bucket. */
  key: string;
  query: URLSearchParams;
  headers: IncomingMessage['headers'];
}

export type Fault =
  | { kind: 'status'; status: number }
  | { kind: 'hang' }
  /** The connection ends when so much of the request, or of the answer, has passed. */
  | { kind: 'reset'; afterBytes: number }
  | { kind: 'cut-answer'; afterBytes: number }
  | { kind: 'stall-answer'; afterBytes: number }
  /** The answer is whole, but another one. */
  | { kind: 'alter'; change: (body: Buffer) => Buffer }
  /** The request is done, but nobody hears of it. */
  | { kind: 'lose-answer' };

export interface S3Proxy {
  url: string;
  seen: Seen[];
  /** What is to happen to a request; nothing unless told. */
  fault: (seen: Seen) => Fault | null;
  /** Called before a request goes on. */
  before: (seen: Seen) => Promise<void>;
  /** Lists come in pages of so many; the server behind can make none. */
  pageSize: number | null;
  /** Ends all connections, as a service that is started anew. */
  disconnect(): void;
}

export interface S3ProxyOptions {
  /** Keep If-Match and If-None-Match of a write, as AWS does and the server behind does not. */
  conditions?: boolean;
}

export async function startS3Proxy({ conditions = false }: S3ProxyOptions = {}): Promise<S3Proxy> {
  const target = new URL(inject('s3Url'));
  const proxy: S3Proxy = {
    url: '',
    seen: [],
    fault: () => null,
    before: async () => undefined,
    pageSize: null,
    disconnect: () => server.closeAllConnections(),
  };
  let lastWrite: Promise<unknown> = Promise.resolve();
  const server = createServer(async (incoming, outgoing) => {
    const seen = toSeen(incoming);
    proxy.seen.push(seen);
    const fault = proxy.fault(seen);
    incoming.on('error', () => undefined);
    outgoing.on('error', () => undefined);
    if (fault?.kind === 'hang') return;
    if (fault?.kind === 'status') {
      incoming.resume().on('end', () => outgoing.writeHead(fault.status).end());
      return;
    }
    await proxy.before(seen);
    if (proxy.pageSize && seen.query.has('list-type')) {
      outgoing.end(await listPage(target, incoming.url ?? '', proxy.pageSize));
      return;
    }
    if (!conditions || seen.method !== 'PUT') return forward(target, incoming, outgoing, fault);
    const before = lastWrite;
    lastWrite = once(outgoing, 'close');
    await before;
    if (await isAllowed(target, incoming)) forward(target, incoming, outgoing, fault);
    else incoming.resume().on('end', () => outgoing.writeHead(412).end());
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  proxy.url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return proxy;
}

function toSeen({ method = '', url = '', headers }: IncomingMessage): Seen {
  const { pathname, searchParams } = new URL(url, 'http://s3');
  const [, , ...key] = decodeURIComponent(pathname).split('/');
  return { method, key: key.join('/'), query: searchParams, headers };
}

function forward(target: URL, incoming: IncomingMessage, outgoing: ServerResponse, fault: Fault | null) {
  const { method, url, headers } = incoming;
  const onward = request({ host: target.hostname, port: target.port, method, path: url, headers });
  onward.on('error', () => outgoing.destroy());
  let passed = 0;
  incoming.on('data', (chunk: Buffer) => {
    passed += chunk.length;
    if (fault?.kind === 'reset' && passed >= fault.afterBytes) {
      incoming.socket.destroy();
      onward.destroy();
    } else onward.write(chunk);
  });
  incoming.on('end', () => onward.end());
  onward.on('response', (answer) => {
    if (fault?.kind === 'lose-answer') {
      answer.resume().on('end', () => incoming.socket.destroy());
      return;
    }
    void passOn(answer, outgoing, fault);
  });
}

async function passOn(answer: IncomingMessage, outgoing: ServerResponse, fault: Fault | null) {
  const { statusCode = 500, headers } = answer;
  if (fault?.kind !== 'cut-answer' && fault?.kind !== 'stall-answer' && fault?.kind !== 'alter') {
    outgoing.writeHead(statusCode, headers);
    answer.pipe(outgoing);
    return;
  }
  const chunks: Buffer[] = [];
  for await (const chunk of answer) chunks.push(chunk);
  const body = Buffer.concat(chunks);
  if (fault.kind === 'alter') {
    const changed = fault.change(body);
    outgoing.writeHead(statusCode, { ...headers, 'content-length': `${changed.length}` }).end(changed);
    return;
  }
  outgoing.writeHead(statusCode, headers);
  outgoing.write(body.subarray(0, fault.afterBytes), () => {
    if (fault.kind === 'cut-answer') outgoing.socket?.destroy();
  });
}

/** From the older way of listing, which the server can do in pages. */
async function listPage(target: URL, asked: string, pageSize: number): Promise<string> {
  const { pathname, searchParams } = new URL(asked, target);
  const url = new URL(pathname, target);
  url.searchParams.set('prefix', searchParams.get('prefix') ?? '');
  url.searchParams.set('marker', searchParams.get('continuation-token') ?? '');
  url.searchParams.set('max-keys', `${pageSize}`);
  const page = await (await fetch(url)).text();
  const [last = ''] = [...page.matchAll(/<Key>([^<]+)</g)].map(([, key]) => key).slice(-1);
  return page.replace('</ListBucketResult>', `<NextContinuationToken>${last}</NextContinuationToken>$&`);
}

async function isAllowed(target: URL, { url = '', headers }: IncomingMessage): Promise<boolean> {
  const { 'if-match': match, 'if-none-match': noneMatch } = headers;
  if (match === undefined && noneMatch === undefined) return true;
  const etag = await etagOf(target, url);
  return match === undefined ? etag === null : etag === match;
}

/** The server gives what is not signed too, to those who ask in the name of its only account. */
async function etagOf(target: URL, url: string): Promise<string | null> {
  const response = await fetch(new URL(url.split('?')[0] ?? '', target), { method: 'HEAD' });
  return response.ok ? response.headers.get('etag') : null;
}
