import type { Config, Secrets } from '../config/config.ts';
import type { McpReach } from '../sources/mcp/server.ts';
import { type McpSource, openMcpSource } from '../sources/mcp/source.ts';
import type { Source } from '../sources/source.ts';

export interface McpSources {
  sources: Source[];
  close(): Promise<void>;
}

/** Every MCP server that is configured; one that is not there is an error at start. */
export async function openMcpSources(
  config: Config,
  secrets: Pick<Secrets, 'mcp'>,
  signal: AbortSignal,
): Promise<McpSources> {
  const opened: McpSource[] = [];
  const close = async () => {
    await Promise.all(opened.map((one) => one.close()));
  };
  try {
    for (const server of config.sources.mcp) {
      const { name, tools, notes, timeoutMs } = server;
      const reach = toReach(server, secrets);
      opened.push(await openMcpSource({ name, tools, notes, timeoutMs, reach }, signal));
    }
    return { sources: opened.map(({ source }) => source), close };
  } catch (error) {
    await close();
    throw error;
  }
}

function toReach(
  { name, command, args, url }: Config['sources']['mcp'][number],
  { mcp }: Pick<Secrets, 'mcp'>,
): McpReach {
  const { token, env = {} } = mcp.get(name) ?? {};
  // The configuration has either the one or the other.
  return command === undefined
    ? { kind: 'http', url: url ?? '', token }
    : { kind: 'stdio', command, args, env };
}
