// Tools of an MCP server as a data source: chosen by name, only reading, their output like any other's.
import type { Tool } from '@modelcontextprotocol/sdk/types.js';
import { z } from 'zod';
import { PermanentError } from '../../errors.ts';
import type { Source, SourceTool } from '../source.ts';
import { fromResult, mapTexts, toText } from './answer.ts';
import { createMcpConnection, type McpConnection, type McpOptions } from './connection.ts';
import { toErrorWords, withoutSecrets } from './secrets.ts';
import type { McpServer } from './server.ts';

export interface McpSource {
  source: Source;
  close(): Promise<void>;
}

/** Asks the server for its tools. RetryableError: it is away; PermanentError: what is configured is not as it should be. */
export async function openMcpSource(
  server: McpServer,
  signal: AbortSignal,
  options?: McpOptions,
): Promise<McpSource> {
  const connection = createMcpConnection(server, options);
  try {
    const offered = await connection.listTools(signal);
    const tools = server.tools.map((name) =>
      toSourceTool(server, connection, findTool(server, offered, name)),
    );
    return {
      source: { name: server.name, notes: server.notes ?? `Tools of the MCP server ${server.name}.`, tools },
      close: connection.close,
    };
  } catch (error) {
    await connection.close();
    throw error;
  }
}

/** Stands for a server that can not be reached. */
export function createMissingSource(server: McpServer, error: unknown): Source {
  const { name } = server;
  const why = toErrorWords(server, error instanceof Error ? error.message : String(error));
  return {
    name,
    notes: `This source can not be reached now, so it has no tools: ${why}. Name the gap in your answer if it matters.`,
    tools: [],
    missing: { tools: server.tools.map((tool) => toName(server, tool)), why },
  };
}

function findTool({ name: server }: McpServer, offered: readonly Tool[], name: string): Tool {
  const tool = offered.find((one) => one.name === name);
  if (!tool) {
    const names = offered.map((one) => one.name).join(', ');
    throw new PermanentError(
      `MCP server ${server} has no tool ${name}; correct sources.mcp. It has: ${names || 'none'}`,
    );
  }
  if (tool.annotations?.readOnlyHint === false || tool.annotations?.destructiveHint === true) {
    throw new PermanentError(
      `The tool ${name} of MCP server ${server} says that it does not only read; remove it from sources.mcp`,
    );
  }
  return tool;
}

const MAX_DESCRIPTION = 1_000;
const MAX_NAME = 64;

function toSourceTool(server: McpServer, connection: McpConnection, tool: Tool): SourceTool {
  const clean = (words: string): string => withoutSecrets(server, words);
  const schema = toSchema(server, { ...tool, inputSchema: mapTexts(tool.inputSchema, clean) });
  return {
    name: toName(server, tool.name),
    description: clean(tool.description ?? tool.title ?? tool.name).slice(0, MAX_DESCRIPTION),
    schema: schema as z.ZodType<never>,
    async read(args: Record<string, unknown>, signal) {
      const result = await connection.call(tool.name, args, signal);
      if (result.isError)
        throw new PermanentError(toErrorWords(server, toText(result)) || 'the tool failed without a word');
      return fromResult(result, clean);
    },
  };
}

function toName(server: McpServer, tool: string): string {
  return `${server.name}_${tool.replace(/[^\w-]/g, '_')}`.slice(0, MAX_NAME);
}

/** From JSON Schema to ours and, for the model, back again. */
function toSchema({ name: server }: McpServer, { name, inputSchema }: Tool): z.ZodType {
  try {
    return z.fromJSONSchema(inputSchema as Parameters<typeof z.fromJSONSchema>[0]);
  } catch (cause) {
    const why = cause instanceof Error ? cause.message : String(cause);
    throw new PermanentError(
      `The tool ${name} of MCP server ${server} has arguments in an unknown form: ${why}`,
      {
        cause,
      },
    );
  }
}
