import { Readable } from 'node:stream';
import { setTimeout as sleep } from 'node:timers/promises';
import Fastify from 'fastify';
import { type StreamEvent, toEvents } from './anthropic-events.ts';
import { fromBody, type MessagesRequest } from './anthropic-request.ts';
import type { Script } from './script.ts';
import { findPosition, type Position } from './script-position.ts';

export type ScriptedAnthropicOptions = {
  /** Asked with each request: the script may depend on what only came to be meanwhile. */
  script: () => Script;
  /** Any free one unless told. */
  port?: number;
  /** A pause before each piece of an answer, so that a person can follow. */
  delayMs?: number;
};

export type ScriptedAnthropic = { readonly url: string; close(): Promise<void> };

/** Speaks Anthropic's Messages API and knows one conversation. It keeps nothing between requests. */
export async function createScriptedAnthropic(options: ScriptedAnthropicOptions): Promise<ScriptedAnthropic> {
  const app = Fastify({ forceCloseConnections: true, bodyLimit: 32 * 1024 * 1024 });
  app.post('/v1/messages', (request, reply) => {
    // The SDK sends its key as a bearer token; other clients use the older header.
    const { authorization, 'x-api-key': apiKey } = request.headers;
    if (authorization === undefined && apiKey === undefined) {
      return reply.code(401).send(toError('authentication_error', 'authorization: a key is required'));
    }
    const found = findAnswer(options.script, request.body);
    if ('misfit' in found) return reply.code(400).send(toError('invalid_request_error', found.misfit));
    const events = toEvents(found.request, found.position);
    return reply
      .type('text/event-stream; charset=utf-8')
      .header('cache-control', 'no-cache')
      .send(Readable.from(toStream(events, options.delayMs ?? 0)));
  });
  app.setNotFoundHandler((_request, reply) => reply.code(404).send(toError('not_found_error', 'Not found')));
  const url = await app.listen({ host: '127.0.0.1', port: options.port ?? 0 });
  return { url, close: () => app.close() };
}

type Answer = { request: MessagesRequest; position: Position } | { misfit: string };

/** Whatever is wrong is told to the one who asked: nobody reads this server's log. */
function findAnswer(script: () => Script, body: unknown): Answer {
  try {
    const request = fromBody(body);
    if (!request.stream) return { misfit: 'stream: must be true; the script is only streamed.' };
    return { request, position: findPosition(script(), request) };
  } catch (error) {
    return { misfit: error instanceof Error ? error.message : String(error) };
  }
}

async function* toStream(events: Iterable<StreamEvent>, delayMs: number): AsyncGenerator<string> {
  for (const event of events) {
    if (delayMs > 0 && event.type === 'content_block_delta') await sleep(delayMs);
    yield `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`;
  }
}

function toError(type: string, message: string) {
  return { type: 'error', error: { type, message } };
}
