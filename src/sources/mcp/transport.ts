// How bytes get to an MCP server and back, with our limits on them.
import { getDefaultEnvironment, StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import type { FetchLike, Transport } from '@modelcontextprotocol/sdk/shared/transport.js';
import { type RequestInit as UndiciInit, fetch as undiciFetch } from 'undici';
import { createGuardedLookup, refuseForbiddenAddress } from '../../gitlab/address.ts';
import { createAgent } from '../../gitlab/agent.ts';
import type { McpServer } from './server.ts';

const MAX_ANSWER_BYTES = 64 * 1024 * 1024;

export interface OpenTransport {
  transport: Transport;
  /** Frees what the transport itself does not. */
  release(): Promise<void>;
}

export function openTransport({ reach, timeoutMs }: McpServer): OpenTransport {
  if (reach.kind === 'http') return openHttp(reach, timeoutMs);
  const { command, args, env } = reach;
  const transport = new StdioClientTransport({
    command,
    args: [...args],
    // Never ours as a whole: it holds the tokens of everything else.
    env: { ...getDefaultEnvironment(), ...env },
    stderr: 'ignore',
    maxBufferSize: MAX_ANSWER_BYTES,
  });
  return { transport, release: async () => undefined };
}

function openHttp(
  { url, token }: { url: string; token?: string | undefined },
  timeoutMs: number,
): OpenTransport {
  const target = new URL(url);
  refuseForbiddenAddress(target.hostname, 'internal');
  const agent = createAgent({
    timeoutMs,
    maxAnswerBytes: MAX_ANSWER_BYTES,
    connect: { lookup: createGuardedLookup(() => 'internal') },
  });
  // Two declarations of the same thing: the SDK's are the global ones, undici has its own.
  const fetch: FetchLike = async (input, init) =>
    (await undiciFetch(input, {
      ...(init as unknown as UndiciInit),
      dispatcher: agent,
    })) as unknown as Response;
  const headers = token === undefined ? {} : { authorization: `Bearer ${token}` };
  const transport = new StreamableHTTPClientTransport(target, { fetch, requestInit: { headers } });
  return { transport: transport as Transport, release: () => agent.destroy() };
}
