import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import type { CallToolResult } from '@modelcontextprotocol/sdk/types.js';
import { CallToolResultSchema } from '@modelcontextprotocol/sdk/types.js';
import { untilAborted } from '../../deadline.ts';
import { type Clock, systemClock } from '../../http/clock.ts';
import type { Failure } from '../../http/failure.ts';
import { createLimiter, type Limiter } from '../../http/limiter.ts';
import { createRepeat, type HttpLog, type Try } from '../../http/repeat.ts';
import { isLostConnection, nameOf, toFailure } from './failure.ts';
import { findTool, type OfferedTools, readOffered } from './offered.ts';
import type { McpServer } from './server.ts';
import { openTransport, type TransportOptions } from './transport.ts';

/** Throws RetryableError, PermanentError or the signal's reason. */
export interface McpConnection {
  listTools(signal: AbortSignal): Promise<OfferedTools>;
  call(tool: string, args: Record<string, unknown>, signal: AbortSignal): Promise<CallToolResult>;
  close(): Promise<void>;
}

export interface McpOptions extends TransportOptions {
  clock?: Clock;
  log?: HttpLog;
}

const CALLS_PER_MINUTE = 500;

/** Connects when it is needed, and calls again where that may help: what it does only reads. */
export function createMcpConnection(server: McpServer, options: McpOptions = {}): McpConnection {
  const { clock = systemClock, log } = options;
  const who = nameOf(server);
  const limiter = createLimiter(CALLS_PER_MINUTE, clock, who);
  const repeat = createRepeat({ limiter, clock, who, log });
  const ending = new AbortController();
  let current: Promise<Live> | undefined;

  function connect(): Promise<Live> {
    if (current) return current;
    // By then another one may have taken its place, which must stay.
    const forget = (): void => {
      if (current === opening) current = undefined;
    };
    const opening = open(server, { onLost: forget, limiter, ending: ending.signal, options });
    opening.catch(forget);
    current = opening;
    return opening;
  }

  function ask<T>(what: string, signal: AbortSignal, work: (live: Live) => Promise<T>): Promise<T> {
    const asked = { what: `${who}, ${what},`, signal, mayRepeat: (one: Failure) => one.repeat !== 'never' };
    return repeat(asked, () => tryOnce(what, signal, work));
  }

  /** On a new connection, if the one there was turns out to be lost. */
  async function tryOnce<T>(
    what: string,
    signal: AbortSignal,
    work: (live: Live) => Promise<T>,
  ): Promise<Try<T>> {
    for (let attempt = 1; ; attempt += 1) {
      signal.throwIfAborted();
      const used = connect();
      let live: Live | undefined;
      try {
        // Others may wait for the same connection, so it is left, not ended.
        live = await untilAborted(used, signal);
        return { kind: 'answered', value: await work(live) };
      } catch (error) {
        signal.throwIfAborted();
        const isLost = isLostConnection(error);
        if (!isLost || attempt === 2) return toFailure(server, what, (isLost && live?.whyLost()) || error);
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

  return {
    listTools: (signal) => ask('its list of tools', signal, async ({ offered }) => offered),
    call: (name, args, signal) =>
      ask(name, signal, async ({ client, offered }) => {
        // Once more: since it was chosen the server may have been replaced by another version.
        findTool(server, offered, name);
        const limits = { signal, timeout: server.timeoutMs };
        const answer = await client.callTool({ name, arguments: args }, CallToolResultSchema, limits);
        return CallToolResultSchema.parse(answer);
      }),
    close() {
      // Whatever is being opened is not waited for.
      ending.abort();
      return drop(current);
    },
  };
}

interface Live {
  client: Client;
  offered: OfferedTools;
  /** What the SDK closed it for by itself, if it did. */
  whyLost(): Error | undefined;
  close(): Promise<void>;
}

interface OpenOptions {
  onLost(): void;
  limiter: Limiter;
  ending: AbortSignal;
  options: TransportOptions;
}

async function open(server: McpServer, { onLost, limiter, ending, options }: OpenOptions): Promise<Live> {
  const { transport, release } = openTransport(server, limiter, options);
  const client = new Client({ name: 'hummingbird', version: '1' });
  client.onclose = onLost;
  let tooLarge: Error | undefined;
  client.onerror = (error) => {
    if (/exceeded maximum size/.test(error.message)) tooLarge = error;
  };
  const close = async () => {
    await client.close().catch(() => undefined);
    await release();
  };
  try {
    const timeout = server.timeoutMs;
    await client.connect(transport, { timeout, signal: ending });
    const signal = AbortSignal.any([ending, AbortSignal.timeout(timeout)]);
    const offered = await readOffered(client, { signal, timeout });
    return { client, offered, whyLost: () => tooLarge, close };
  } catch (error) {
    await close();
    throw error;
  }
}
