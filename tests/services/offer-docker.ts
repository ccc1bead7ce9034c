import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { type DockerEngine, startDocker } from './docker.ts';

/** Starts an engine when the first test file asks for it, and answers all of them when it is ready. */
export async function offerDocker(): Promise<{ url: string; stop(): Promise<void> }> {
  let starting: Promise<DockerEngine | null> | undefined;
  const server = createServer(async (_, response) => {
    try {
      starting ??= startDocker();
      const engine = await starting;
      response.end(JSON.stringify({ socketPath: engine?.socketPath, image: engine?.image }));
    } catch (error) {
      response.writeHead(500).end(String(error));
    }
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    async stop() {
      server.close();
      await (await starting?.catch(() => null))?.remove();
    },
  };
}
