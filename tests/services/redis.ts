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
  const settings = {
    port: `${port}`,
    bind: '127.0.0.1',
    dir: mkdtempSync(join(tmpdir(), 'hummingbird-redis-')),
    save: '',
    appendonly: 'yes',
    // A cluster of one: it refuses commands whose keys belong to different slots.
    'cluster-enabled': 'yes',
    'cluster-port': `${await freePort()}`,
  };
  const args = Object.entries(settings).flatMap(([name, value]) => [`--${name}`, value]);
  return startServer({ command, args, url, ready: () => ping(url) });
}

async function ping(url: string): Promise<void> {
  const client = new Redis(url, { lazyConnect: true, retryStrategy: () => null });
  client.on('error', () => undefined);
  try {
    await client.connect();
    const state = String(await client.call('CLUSTER', 'INFO'));
    if (!state.includes('cluster_slots_assigned:16384'))
      await client.call('CLUSTER', 'ADDSLOTSRANGE', '0', '16383');
    if (!state.includes('cluster_state:ok')) throw new Error('the cluster is not ready yet');
  } finally {
    client.disconnect();
  }
}
