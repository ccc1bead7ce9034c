import { once } from 'node:events';
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { json } from 'node:stream/consumers';
import { onTestFinished } from 'vitest';

type OnCall = (
  answer: (result: unknown) => string,
  response: ServerResponse,
  authorization: string,
) => unknown;

interface BareOptions {
  onInitialize?: (count: number) => Promise<unknown>;
  tools?: readonly object[];
  /** Instead of them, page by page. */
  listTools?: () => object | Promise<object>;
  /** Hears the arguments of each call. */
  onCall?: (args: unknown) => unknown;
  /** What is answered instead to a request of this JSON-RPC method (GET has none). */
  refuse?: (method: string | undefined) => Refusal | undefined;
}

export interface Refusal {
  status: number;
  headers?: Record<string, string>;
  body?: string;
}

/** An MCP server as the SDK would not let one be: what a call gets is written by hand. */
export async function startBareServer(onCall: OnCall, options: BareOptions = {}) {
  const { onInitialize = async () => {}, tools = TOOLS, refuse = () => undefined } = options;
  const { listTools = () => ({ tools }) } = options;
  const encodings: unknown[] = [];
  const methods: string[] = [];
  let connects = 0;
  const server = createServer(async (request, response) => {
    encodings.push(request.headers['accept-encoding']);
    const asked = request.method === 'POST' ? ((await json(request)) as Asked) : undefined;
    methods.push(asked?.method ?? request.method ?? '');
    const refusal = refuse(asked?.method);
    if (refusal) return response.writeHead(refusal.status, refusal.headers).end(refusal.body);
    if (!asked) return response.writeHead(405).end();
    const { id, method, params } = asked;
    const answer = (result: unknown) => JSON.stringify({ jsonrpc: '2.0', id, result });
    response.setHeader('content-type', 'application/json');
    if (method === 'tools/call') options.onCall?.(params.arguments);
    if (method === 'tools/call') return onCall(answer, response, request.headers.authorization ?? '');
    if (method === 'tools/list') return response.end(answer(await listTools()));
    if (method !== 'initialize') return response.writeHead(202).end();
    connects += 1;
    await onInitialize(connects);
    const { protocolVersion } = params;
    const serverInfo = { name: 'bare', version: '1' };
    return response.end(answer({ protocolVersion, capabilities: { tools: {} }, serverInfo }));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => {
    server.close();
    server.closeAllConnections();
  });
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, encodings, methods };
}

interface Asked {
  id: number;
  method: string;
  params: { protocolVersion: string; arguments?: unknown };
}

const TOOLS = ['search_pages', 'get_page'].map((name) => ({ name, inputSchema: { type: 'object' } }));
