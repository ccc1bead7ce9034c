// What a server offers, and whether what was configured is among it and only reads.
import type { Client } from '@modelcontextprotocol/sdk/client/index.js';
import type { Tool } from '@modelcontextprotocol/sdk/types.js';
import { PermanentError } from '../../errors.ts';
import type { McpServer } from './server.ts';

export interface OfferedTools {
  tools: Tool[];
  /** There are more than were read. */
  isCut: boolean;
}

const MAX_PAGES = 20;
const MAX_NAMED = 50;

export async function readOffered(
  client: Client,
  limits: { signal: AbortSignal; timeout: number },
): Promise<OfferedTools> {
  const tools: Tool[] = [];
  let cursor: string | undefined;
  for (let page = 0; page < MAX_PAGES; page += 1) {
    const answer = await client.listTools(cursor === undefined ? {} : { cursor }, limits);
    tools.push(...answer.tools);
    cursor = answer.nextCursor;
    if (cursor === undefined) return { tools, isCut: false };
  }
  return { tools, isCut: true };
}

/** Throws PermanentError when it is not there, or says that it writes. */
export function findTool({ name: server }: McpServer, { tools, isCut }: OfferedTools, name: string): Tool {
  const tool = tools.find((one) => one.name === name);
  if (!tool) {
    const names = tools.slice(0, MAX_NAMED).map((one) => one.name);
    const more = tools.length > MAX_NAMED || isCut ? ` and more (${tools.length} were read)` : '';
    throw new PermanentError(
      `MCP server ${server} has no tool ${name}; correct sources.mcp. It has: ${names.join(', ') || 'none'}${more}`,
    );
  }
  if (tool.annotations?.readOnlyHint === false || tool.annotations?.destructiveHint === true) {
    throw new PermanentError(
      `The tool ${name} of MCP server ${server} says that it does not only read; remove it from sources.mcp`,
    );
  }
  return tool;
}
