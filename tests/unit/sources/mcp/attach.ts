import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import type { McpOptions } from '../../../../src/sources/mcp/connection.ts';
import type { McpReach, McpServer } from '../../../../src/sources/mcp/server.ts';
import { openMcpSource } from '../../../../src/sources/mcp/source.ts';
import { createToolbox } from '../../../services/redactor.ts';
import { createMemorySandbox } from '../../tools/memory-sandbox.ts';

export const STDIO: McpReach = {
  kind: 'stdio',
  command: process.execPath,
  args: [join(import.meta.dirname, 'wiki-stdio.ts')],
  env: { WIKI_TOKEN: 'wiki-secret' },
};
export const TOOLS = ['search_pages', 'get_page'];

/** The server as the source `wiki`, until the test ends. */
export async function attach(reach: McpReach, more: Partial<McpServer> = {}, options: McpOptions = {}) {
  const server = { name: 'wiki', tools: TOOLS, timeoutMs: 10_000, reach, ...more };
  const { source, close } = await openMcpSource(server, new AbortController().signal, options);
  onTestFinished(close);
  const sandbox = createMemorySandbox();
  const toolbox = createToolbox({ sandbox, sources: [source] });
  return { source, sandbox, toolbox, close };
}
