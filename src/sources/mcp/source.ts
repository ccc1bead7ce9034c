// Tools of an MCP server as a data source: chosen by name, only reading, their output like any other's.
import type { Tool } from '@modelcontextprotocol/sdk/types.js';
import { z } from 'zod';
import { cutWords } from '../../cut-words.ts';
import { PermanentError } from '../../errors.ts';
import { cutText } from '../cut-text.ts';
import type { Source, SourceTool } from '../source.ts';
import { fromResult, mapTexts, toText } from './answer.ts';
import { createMcpConnection, type McpConnection, type McpOptions } from './connection.ts';
import { findTool } from './offered.ts';
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
    refuseTwins(server, tools);
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
    // Not why: those words are the server's, and these the model is to follow.
    notes:
      'This source can not be reached now, so it has no tools. Name the gap in your answer if it matters.',
    tools: [],
    missing: { tools: server.tools.map((tool) => toName(server, tool)), why },
  };
}

const MAX_DESCRIPTION = 1_000;
const MAX_NAME = 64;

function toSourceTool(server: McpServer, connection: McpConnection, tool: Tool): SourceTool {
  const clean = (words: string): string => withoutSecrets(server, words);
  const inputSchema = mapTexts(tool.inputSchema, clean);
  const schema = fromJsonSchema(inputSchema);
  const description = cutWords(clean(tool.description ?? tool.title ?? tool.name), MAX_DESCRIPTION);
  return {
    name: toName(server, tool.name),
    description: schema ? description : `${description}${tellArguments(inputSchema)}`,
    schema: (schema ?? z.looseObject({})) as z.ZodType<never>,
    isForeign: true,
    async read(args: Record<string, unknown>, signal) {
      const result = await connection.call(tool.name, args, signal);
      if (result.isError)
        throw new PermanentError(toErrorWords(server, toText(result)) || 'the tool failed without a word');
      return fromResult(result, clean);
    },
  };
}

function refuseTwins({ name, tools: configured }: McpServer, tools: readonly SourceTool[]): void {
  const twin = tools.findIndex((one, at) => tools.findIndex((other) => other.name === one.name) !== at);
  if (twin === -1) return;
  throw new PermanentError(
    `The tool ${configured[twin]} of MCP server ${name} would be the second ${tools[twin]?.name}; remove it from sources.mcp`,
  );
}

function toName(server: McpServer, tool: string): string {
  return `${server.name}_${tool.replace(/[^\w-]/g, '_')}`.slice(0, MAX_NAME);
}

/** From JSON Schema to ours and, for the model, back again; undefined for what we can not check. */
function fromJsonSchema(inputSchema: Tool['inputSchema']): z.ZodType | undefined {
  type Given = Parameters<typeof z.fromJSONSchema>[0];
  // Many servers write the older form without saying so.
  for (const defaultTarget of ['draft-2020-12', 'draft-7'] as const) {
    try {
      const schema = z.fromJSONSchema(inputSchema as Given, { defaultTarget });
      if (isPlain(z.toJSONSchema(schema, { io: 'input' }))) return schema;
    } catch {}
  }
  return undefined;
}

/** Vendors refuse choices at the top, and the whole request with them. */
function isPlain(schema: object & { type?: unknown }): boolean {
  return schema.type === 'object' && !['allOf', 'anyOf', 'oneOf'].some((key) => key in schema);
}

const MAX_SCHEMA = 2_000;

/** For the model; the server itself checks what it is sent. */
function tellArguments(inputSchema: Tool['inputSchema']): string {
  return `\n\nIts arguments, as JSON Schema: ${cutText(JSON.stringify(inputSchema), MAX_SCHEMA, 'it')}`;
}
