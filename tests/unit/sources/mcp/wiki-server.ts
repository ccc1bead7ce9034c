// A real MCP server with the official SDK, as somebody might attach it.
import { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js';
import { z } from 'zod';

export function createWikiServer(): McpServer {
  const server = new McpServer({ name: 'wiki', version: '1.0.0' });

  server.registerTool(
    'search_pages',
    {
      description: 'Finds pages of the wiki.',
      inputSchema: { words: z.string().min(2), limit: z.number().int().max(50).optional() },
      outputSchema: { pages: z.array(z.object({ id: z.number(), title: z.string() })) },
      annotations: { readOnlyHint: true },
    },
    async ({ words }) => {
      const structuredContent = { pages: [{ id: 7, title: `Über ${words} 🐦` }] };
      return { content: [{ type: 'text', text: JSON.stringify(structuredContent) }], structuredContent };
    },
  );

  server.registerTool(
    'get_page',
    { description: 'The text of a page.', inputSchema: { id: z.number().int() } },
    async ({ id }) => {
      if (id === 404) return { isError: true, content: [{ type: 'text', text: 'There is no page 404' }] };
      if (id === 500) process.exit(1);
      const text = id === 9 ? 'line\n'.repeat(50_000) : `Page ${id}`;
      return {
        content: [
          { type: 'text', text },
          { type: 'image', data: 'AAAA', mimeType: 'image/png' },
        ],
      };
    },
  );

  server.registerTool('get_environment', { description: 'What this process was given.' }, async () => ({
    content: [{ type: 'text', text: JSON.stringify(process.env) }],
  }));

  server.registerTool('sleep', { description: 'Never answers.' }, () => new Promise(() => undefined));

  server.registerTool(
    'delete_page',
    { description: 'Gone.', annotations: { readOnlyHint: false, destructiveHint: true } },
    async () => ({ content: [] }),
  );
  return server;
}
