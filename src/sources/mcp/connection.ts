import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import type { CallToolResult, Tool } from '@modelcontextprotocol/sdk/types.js';
import { CallToolResultSchema } from '@modelcontextprotocol/sdk/types.js';
import { untilAborted } from '../../deadline.ts';
import { isLostConnection, toMcpError } from './failure.ts';
import type { McpServer } from './server.ts';
import { openTransport, type TransportOptions } from './transport.ts';

/** Throws RetryableError, PermanentError or the signal's reason. */
export interface McpConnection {
  listTools(signal: AbortSignal): Promise<Tool[]>;
  call(tool: string, args: Record<string, unknown>, signal: AbortSignal): Promise<CallToolResult>;
  close(): Promise<void>;
}

const MAX_PAGES = 20;

/** Connects when it is needed, and once more when the connection was lost: what it does only reads. */
export function createMcpConnection(server: McpServer, options?: TransportOptions): McpConnection {
  let current: Promise<Live> | undefined;

  function connect(): Promise<Live> {
    if (current) return current;
    // By then another one may have taken its place, which must stay.
    const forget = (): void => {
      if (current === opening) current = undefined;
    };
    const opening = open(server, forget, options);
    opening.catch(forget);
    current = opening;
    return opening;
  }

  async function ask<T>(what: string, signal: AbortSignal, work: (client: Client) => Promise<T>): Promise<T> {
    for (let attempt = 1; ; attempt += 1) {
      signal.throwIfAborted();
      const used = connect();
      try {
        // Others may wait for the same connection, so it is left, not ended.
        const { client } = await untilAborted(used, signal);
        return await work(client);
      } catch (error) {
        signal.throwIfAborted();
        if (!isLostConnection(error) || attempt === 2) throw toMcpError(server, what, error);
        await drop(used);
      }
    }
  }

  /** Only that one: others who lost it as well may have a new one already. */
  async function drop(lost: Promise<Live> | undefined): Promise<void> {
    if (current === lost) current = undefined;
    const live = await lost?.catch(() => undefined);
    await live?.close();
  }

  const limits = (signal: AbortSignal) => ({ signal, timeout: server.timeoutMs });
  return {
    listTools: (signal) =>
      ask('its list of tools', signal, async (client) => {
        const tools: Tool[] = [];
        let cursor: string | undefined;
        for (let page = 0; page < MAX_PAGES; page += 1) {
          const answer = await client.listTools(cursor === undefined ? {} : { cursor }, limits(signal));
          tools.push(...answer.tools);
          cursor = answer.nextCursor;
          if (cursor === undefined) break;
        }
        return tools;
      }),
    call: (name, args, signal) =>
      ask(name, signal, async (client) => {
        const answer = await client.callTool({ name, arguments: args }, CallToolResultSchema, limits(signal));
        return CallToolResultSchema.parse(answer);
      }),
    close: () => drop(current),
  };
}

interface Live {
  client: Client;
  close(): Promise<void>;
}

async function open(server: McpServer, onLost: () => void, options?: TransportOptions): Promise<Live> {
  const { transport, release } = openTransport(server, options);
  const client = new Client({ name: 'hummingbird', version: '1' });
  client.onclose = onLost;
  const close = async () => {
    await client.close().catch(() => undefined);
    await release();
  };
  try {
    await client.connect(transport, { timeout: server.timeoutMs });
    return { client, close };
  } catch (error) {
    await close();
    throw error;
  }
}
