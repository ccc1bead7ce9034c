// A server in front of aimock that keeps what was sent, byte by byte, and can answer by itself where aimock can not.
import { createServer, request as forward, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { LLMock } from '@copilotkit/aimock';
import { exchangeAssertion, TOKEN_PATH } from './google-account.ts';

export interface Sent {
  path: string;
  headers: IncomingMessage['headers'];
  bytes: string;
  body: Record<string, unknown>;
}

export type Reply = (response: ServerResponse, sent: Sent) => void | Promise<void>;

export interface Wire {
  url: string;
  mock: LLMock;
  sent: Sent[];
  last(): Sent;
  /** Answers the next request instead of aimock. */
  reply(reply: Reply): void;
  /** What came to Google's token endpoint, which is on the same server. */
  tokenRequests: URLSearchParams[];
  /** Answers the next one of those. */
  replyToken(reply: Reply): void;
  reset(): void;
  close(): Promise<void>;
}

/** `retryAfterMs`: what a vendor in trouble tells to wait; nothing, unless told. */
export async function startWire({ retryAfterMs }: { retryAfterMs?: number } = {}): Promise<Wire> {
  const mock = new LLMock({ port: 0, logLevel: 'silent' });
  await mock.start();
  const sent: Sent[] = [];
  const replies: Reply[] = [];
  const tokenRequests: URLSearchParams[] = [];
  const tokenReplies: Reply[] = [];
  const server = createServer(async (incoming, response) => {
    const bytes = await text(incoming);
    if (incoming.url === TOKEN_PATH) {
      const form = new URLSearchParams(bytes);
      tokenRequests.push(form);
      const { status, body } = exchangeAssertion(form);
      const sent = { path: incoming.url, headers: incoming.headers, bytes, body: Object.fromEntries(form) };
      return (tokenReplies.shift() ?? failWith(status, body))(response, sent);
    }
    const one = { path: incoming.url ?? '', headers: incoming.headers, bytes, body: JSON.parse(bytes) };
    sent.push(one);
    const reply = replies.shift();
    if (reply) await reply(response, one);
    else pass(mock.url, toKnown(one), response, retryAfterMs);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    mock,
    sent,
    last: () => sent.at(-1) ?? { path: '', headers: {}, bytes: '', body: {} },
    reply: (reply) => replies.push(reply),
    tokenRequests,
    replyToken: (reply) => tokenReplies.push(reply),
    reset: () => {
      for (const list of [sent, replies, tokenRequests, tokenReplies]) list.length = 0;
      mock.reset();
    },
    close: async () => {
      if (!server.listening) return;
      server.closeAllConnections();
      server.close();
      await mock.stop();
    },
  };
}

/** aimock knows Gemini only under the name of the beta, and Claude on Vertex AI not at all. */
function toKnown(sent: Sent): Sent {
  const [, model] = /\/publishers\/anthropic\/models\/(.+):streamRawPredict$/.exec(sent.path) ?? [];
  if (model === undefined) return { ...sent, path: sent.path.replace('/v1/models/', '/v1beta/models/') };
  const bytes = JSON.stringify({ model, ...sent.body });
  const headers = { ...sent.headers, 'content-length': `${Buffer.byteLength(bytes)}` };
  return { ...sent, path: '/v1/messages', headers, bytes };
}

function pass(url: string, sent: Sent, response: ServerResponse, retryAfterMs: number | undefined): void {
  const { path, bytes, headers } = sent;
  const upstream = forward(`${url}${path}`, { method: 'POST', headers }, async (answer) => {
    const status = answer.statusCode ?? 500;
    if (status >= 500 && retryAfterMs !== undefined) {
      const { error } = JSON.parse(await text(answer));
      const details = [{ retryDelay: `${retryAfterMs / 1000}s` }];
      const wait = { 'retry-after-ms': `${retryAfterMs}` };
      return failWith(status, { error: { ...error, details } }, wait)(response, sent);
    }
    response.writeHead(status, answer.headers);
    answer.pipe(response);
    answer.on('error', () => response.destroy());
  });
  upstream.on('error', () => response.destroy());
  upstream.end(bytes);
}

/** Server-sent events as all providers write them; an object with a `type` gets it as the event's name. */
export function toEvents(...events: object[]): string {
  return events
    .map((event) => `${'type' in event ? `event: ${event.type}\n` : ''}data: ${JSON.stringify(event)}\n\n`)
    .join('');
}

export function answerWith(...events: object[]): Reply {
  return (response) => {
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    response.end(toEvents(...events));
  };
}

/** Any status with a body in JSON, also a good one. */
export function failWith(status: number, body: unknown, headers: Record<string, string> = {}): Reply {
  return (response) => {
    response.writeHead(status, { 'content-type': 'application/json', ...headers });
    response.end(JSON.stringify(body));
  };
}
