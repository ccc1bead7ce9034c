import { Redis } from 'ioredis';
import { findProgram, freePort, type Server, startProgram } from './server.ts';

export async function startRedis(givenPort?: number): Promise<Server | null> {
  const program = findProgram('redis-server');
  if (!program) return null;
  const port = givenPort ?? (await freePort());
  const url = `redis://127.0.0.1:${port}/0`;
  const args = ['--port', `${port}`, '--bind', '127.0.0.1', '--save', '', '--appendonly', 'no'];
  const stop = await startProgram(program, args, { ready: () => ping(url) });
  return { url, stop };
}

async function ping(url: string): Promise<void> {
  const client = new Redis(url, { lazyConnect: true, retryStrategy: () => null });
  client.on('error', () => undefined);
  try {
    await client.connect();
    await client.ping();
  } finally {
    client.disconnect();
  }
}
