import { StdioServerTransport } from '@modelcontextprotocol/sdk/server/stdio.js';
import { createWikiServer } from './wiki-server.ts';

await createWikiServer().connect(new StdioServerTransport());
