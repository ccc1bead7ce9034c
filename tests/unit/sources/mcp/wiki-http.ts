import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { StreamableHTTPServerTransport } from '@modelcontextprotocol/sdk/server/streamableHttp.js';
import type { Transport } from '@modelcontextprotocol/sdk/shared/transport.js';
import { onTestFinished } from 'vitest';
import { createWikiServer } from './wiki-server.ts';

/** With sessions, which `forget` makes it lose, as a restart would. */
export async function startWiki() {
  const sessions = new Map<string, StreamableHTTPServerTransport>();
  const seen: (string | undefined)[] = [];

  const handle = async (request: IncomingMessage, response: ServerResponse) => {
    seen.push(request.headers.authorization);
    const id = request.headers['mcp-session-id']?.toString();
    const known = id === undefined ? await openSession() : sessions.get(id);
    if (known) return known.handleRequest(request, response);
    return response.writeHead(404).end('Session not found');
  };

  const openSession = async () => {
    const transport = new StreamableHTTPServerTransport({
      sessionIdGenerator: randomUUID,
      onsessioninitialized: (id) => void sessions.set(id, transport),
    });
    await createWikiServer().connect(transport as Transport);
    return transport;
  };

  const server = createServer(handle);
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => {
    server.close();
    server.closeAllConnections();
  });
  const { port } = server.address() as AddressInfo;
  return { url: `http://127.0.0.1:${port}/mcp`, seen, forget: () => sessions.clear() };
}
