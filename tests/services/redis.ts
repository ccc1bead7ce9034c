import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Redis } from 'ioredis';
import { findProgram, freePort, type Server, startServer } from './server.ts';

export async function startRedis(): Promise<Server | null> {
  const command = findProgram('redis-server');
  if (!command) return null;
  const port = await freePort();
  const url = `redis://127.0.0.1:${port}/0`;
  const dir = mkdtempSync(join(tmpdir(), 'hummingbird-redis-'));
  const args = [
    '--port',
    `${port}`,
    '--bind',
    '127.0.0.1',
    '--dir',
    dir,
    '--save',
    '',
    '--appendonly',
    'yes',
  ];
  return startServer({ command, args, url, ready: () => ping(url) });
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
