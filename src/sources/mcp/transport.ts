// How bytes get to an MCP server and back, with our limits on them.
import type { LookupFunction } from 'node:net';
import { getDefaultEnvironment, StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import type { FetchLike, Transport } from '@modelcontextprotocol/sdk/shared/transport.js';
import { type Agent, type Response, type RequestInit as UndiciInit, fetch as undiciFetch } from 'undici';
import { PermanentError } from '../../errors.ts';
import { createGuardedLookup, refuseForbiddenAddress } from '../../http/address.ts';
import { createAgent } from '../../http/agent.ts';
import type { McpServer } from './server.ts';

const MAX_ANSWER_BYTES = 64 * 1024 * 1024;

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
  { maxAnswerBytes = MAX_ANSWER_BYTES, lookup }: TransportOptions = {},
): OpenTransport {
  if (reach.kind === 'http') {
    refuseForbiddenAddress(new URL(reach.url).hostname, 'internal');
    const connect = { lookup: createGuardedLookup(() => 'internal', lookup) };
    return openHttp(reach, createAgent({ timeoutMs, maxAnswerBytes, connect }));
  }
  const { command, args, env } = reach;
  const transport = new StdioClientTransport({
    command,
    args: [...args],
    // Never ours as a whole: it holds the tokens of everything else.
    env: { ...getDefaultEnvironment(), ...env },
    stderr: 'ignore',
    maxBufferSize: maxAnswerBytes,
  });
  return { transport, release: async () => undefined };
}

function openHttp({ url, token }: { url: string; token?: string | undefined }, agent: Agent): OpenTransport {
  // Two declarations of the same thing: the SDK's are the global ones, undici has its own.
  const fetch: FetchLike = async (input, init) => {
    const headers = new Headers(init?.headers);
    headers.set('accept-encoding', 'identity');
    const asked = { ...init, headers, dispatcher: agent } as unknown as UndiciInit;
    const response = await undiciFetch(input, asked);
    await refusePacked(response);
    return response as unknown as globalThis.Response;
  };
  const headers = token === undefined ? {} : { authorization: `Bearer ${token}` };
  const transport = new StreamableHTTPClientTransport(new URL(url), { fetch, requestInit: { headers } });
  return { transport: transport as Transport, release: () => agent.destroy() };
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
