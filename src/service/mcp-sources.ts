import type { Logger } from 'pino';
import type { Config, Secrets } from '../config/config.ts';
import { RetryableError } from '../errors.ts';
import type { McpReach, McpServer } from '../sources/mcp/server.ts';
import { createMissingSource, type McpSource, openMcpSource } from '../sources/mcp/source.ts';
import type { Source } from '../sources/source.ts';

export interface McpSources {
  /** As they are now; who is away is tried again for the next job. */
  current(): Source[];
  close(): Promise<void>;
}

/** Every MCP server that is configured. One that is away is a source that is missing; a wrong setting is an error now. */
export async function openMcpSources(
  config: Config,
  secrets: Pick<Secrets, 'mcp'>,
  log: Logger,
  maxOpenMs = MAX_OPEN_MS,
): Promise<McpSources> {
  const ending = new AbortController();
  const places = config.sources.mcp.map((server) => toPlace(server, secrets));
  const close = async () => {
    ending.abort();
    await Promise.all(places.map((place) => closePlace(place)));
  };
  await openInTime(places, maxOpenMs, log);
  const wrong = places.find(
    ({ state }) => state.kind === 'missing' && !(state.why instanceof RetryableError),
  );
  if (wrong?.state.kind === 'missing') {
    await close();
    throw wrong.state.why;
  }
  return {
    current: () =>
      places.map((place) => {
        if (place.state.kind === 'missing') place.state = reopen(place, place.state.why);
        return toSource(place);
      }),
    close,
  };

  function reopen(place: Place, why: unknown): State {
    return { kind: 'opening', why, done: ensureOpen(place, ending.signal, log) };
  }
}

const MAX_OPEN_MS = 30_000;

type McpConfig = Config['sources']['mcp'][number];

/** A server of the configuration, and what became of it. */
interface Place {
  server: McpServer;
  state: State;
}

type State =
  | { kind: 'open'; opened: McpSource }
  | { kind: 'missing'; why: unknown }
  | { kind: 'opening'; why: unknown; done: Promise<void> };

/** One that asks us to wait, or is slow, does not hold up the start. */
async function openInTime(places: readonly Place[], maxMs: number, log: Logger): Promise<void> {
  const late = new AbortController();
  const reason = new RetryableError(`it was not ready within ${maxMs / 1000} s`);
  const timer = setTimeout(() => late.abort(reason), maxMs);
  await Promise.all(places.map((place) => ensureOpen(place, late.signal, log)));
  clearTimeout(timer);
}

async function ensureOpen(place: Place, signal: AbortSignal, log: Logger): Promise<void> {
  const { server } = place;
  try {
    place.state = { kind: 'open', opened: await openMcpSource(server, signal, { log }) };
  } catch (why) {
    place.state = { kind: 'missing', why };
    if (!signal.aborted) log.warn({ err: why, server: server.name }, 'an MCP server is missing');
  }
}

function toSource({ server, state }: Place): Source {
  return state.kind === 'open' ? state.opened.source : createMissingSource(server, state.why);
}

async function closePlace(place: Place): Promise<void> {
  if (place.state.kind === 'opening') await place.state.done;
  // What was under way has set it meanwhile.
  const state: State = place.state;
  if (state.kind === 'open') await state.opened.close();
}

function toPlace(one: McpConfig, secrets: Pick<Secrets, 'mcp'>): Place {
  const { name, tools, notes, timeoutMs } = one;
  const server = { name, tools, notes, timeoutMs, reach: toReach(one, secrets) };
  return { server, state: { kind: 'missing', why: new RetryableError('it was not asked yet') } };
}

function toReach({ name, command, args, url }: McpConfig, { mcp }: Pick<Secrets, 'mcp'>): McpReach {
  const { token, env = {} } = mcp.get(name) ?? {};
  // The configuration has either the one or the other.
  return command === undefined
    ? { kind: 'http', url: url ?? '', token }
    : { kind: 'stdio', command, args, env };
}
