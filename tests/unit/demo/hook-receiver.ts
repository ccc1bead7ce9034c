import { createServer, type IncomingHttpHeaders } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';

export type Received = { headers: IncomingHttpHeaders; body: string; payload: Record<string, unknown> };

/** What the receiver answers; `never` leaves the sender waiting. */
export type Reaction = number | 'never';

/** A webhook receiver that keeps what it gets and answers as it is told. */
export async function receiveHooks(react: (received: Received, count: number) => Reaction = () => 200) {
  const received: Received[] = [];
  const server = createServer(async (request, response) => {
    const body = await text(request);
    const one: Received = { headers: request.headers, body, payload: JSON.parse(body) };
    received.push(one);
    const reaction = react(one, received.length);
    if (reaction !== 'never') response.writeHead(reaction).end('seen');
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/hook`,
    received,
    [Symbol.asyncDispose]: async () => {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
