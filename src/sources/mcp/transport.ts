// How bytes get to an MCP server and back, with our limits on them.
import type { LookupFunction } from 'node:net';
import { getDefaultEnvironment, StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import type { FetchLike, Transport } from '@modelcontextprotocol/sdk/shared/transport.js';
import { type Agent, type Response, type RequestInit as UndiciInit, fetch as undiciFetch } from 'undici';
import { PermanentError } from '../../errors.ts';
import { createGuardedLookup, refuseForbiddenAddress } from '../../http/address.ts';
import { createAgent } from '../../http/agent.ts';
import { readErrorText } from '../../http/answer.ts';
import { toWords } from '../../http/error-words.ts';
import { isPassing } from '../../http/failure.ts';
import type { Limiter } from '../../http/limiter.ts';
import { askedWaitMs, usedUpMs } from '../../http/waiting.ts';
import { RefusedError } from './failure.ts';
import type { McpServer } from './server.ts';

const MAX_ANSWER_BYTES = 64 * 1024 * 1024;
/** What a process writes, the SDK copies again with every piece that comes. */
const MAX_LINE_BYTES = 16 * 1024 * 1024;

export interface OpenTransport {
  transport: Transport;
  /** Frees what the transport itself does not. */
  release(): Promise<void>;
}

export interface TransportOptions {
  /** Of one answer. */
  maxAnswerBytes?: number;
  /** How names become addresses; the system's unless told. */
  lookup?: LookupFunction;
}

export function openTransport(
  { reach, timeoutMs }: McpServer,
  limiter: Limiter,
  { maxAnswerBytes = MAX_ANSWER_BYTES, lookup }: TransportOptions = {},
): OpenTransport {
  if (reach.kind === 'http') {
    refuseForbiddenAddress(new URL(reach.url).hostname, 'internal');
    const connect = { lookup: createGuardedLookup(() => 'internal', lookup) };
    return openHttp(reach, {
      timeoutMs,
      limiter,
      agent: createAgent({ timeoutMs, maxAnswerBytes, connect }),
    });
  }
  const { command, args, env } = reach;
  const transport = new StdioClientTransport({
    command,
    args: [...args],
    // Never ours as a whole: it holds the tokens of everything else.
    env: { ...getDefaultEnvironment(), ...env },
    stderr: 'ignore',
    maxBufferSize: Math.min(maxAnswerBytes, MAX_LINE_BYTES),
  });
  return { transport, release: async () => undefined };
}

function openHttp(
  { url, token }: { url: string; token?: string | undefined },
  { timeoutMs, limiter, agent }: { timeoutMs: number; limiter: Limiter; agent: Agent },
): OpenTransport {
  // Two declarations of the same thing: the SDK's are the global ones, undici has its own.
  const fetch: FetchLike = async (input, init) => {
    const headers = new Headers(init?.headers);
    headers.set('accept-encoding', 'identity');
    // A server may hold an answer open for ever; who called has gone by then. Its own news come by GET.
    const late = init?.method === 'POST' ? [AbortSignal.timeout(timeoutMs)] : [];
    const signal = AbortSignal.any([...(init?.signal ? [init.signal] : []), ...late]);
    const asked = { ...init, headers, signal, dispatcher: agent } as unknown as UndiciInit;
    const response = await undiciFetch(input, asked);
    limiter.pause(usedUpMs(Object.fromEntries(response.headers)));
    await refusePacked(response);
    if (isPassing(response.status)) throw await toRefused(response);
    return response as unknown as globalThis.Response;
  };
  const headers = token === undefined ? {} : { authorization: `Bearer ${token}` };
  const transport = new StreamableHTTPClientTransport(new URL(url), { fetch, requestInit: { headers } });
  return { transport: transport as Transport, release: () => agent.destroy() };
}

/** What the SDK would tell without the wait that was asked for. */
async function toRefused({ status, headers, body }: Response): Promise<RefusedError> {
  const words = toWords(await readErrorText({ body }));
  return new RefusedError(status, words, askedWaitMs(Object.fromEntries(headers)));
}

/** The agent counts bytes as they arrive, and a few packed ones can become very many. */
async function refusePacked({ headers, body }: Response): Promise<void> {
  const encoding = headers.get('content-encoding') ?? 'identity';
  if (encoding.trim().toLowerCase() === 'identity') return;
  await body?.cancel();
  throw new PermanentError(
    `The MCP server sent its answer packed (${JSON.stringify(encoding.slice(0, 50))}), although we ask for plain bytes`,
  );
}
