import { Redis } from 'ioredis';
import { PermanentError, RetryableError } from '../errors.ts';
import type { DatabaseOptions, RedisConnectionOptions, RedisDatabase } from './database.ts';

const CONNECT_TIMEOUT_MS = 5_000;

export async function openRedis(url: string, options: DatabaseOptions): Promise<RedisDatabase> {
  const connect = (extra: RedisConnectionOptions): Redis => {
    const client = new Redis(url, {
      connectTimeout: CONNECT_TIMEOUT_MS,
      retryStrategy: (attempt) => Math.min(attempt * 100, 2_000),
      ...extra,
    });
    client.on('error', options.onError);
    return client;
  };
  const client = connect({ enableOfflineQueue: false, maxRetriesPerRequest: 1, lazyConnect: true });
  try {
    await client.connect();
  } catch (cause) {
    client.disconnect();
    if (/WRONGPASS|NOAUTH|NOPERM/.test(String(cause)))
      throw new PermanentError('Redis refuses our password or user; check HUMMINGBIRD_QUEUE_URL', { cause });
    throw new RetryableError(`Redis can not be reached: ${(cause as Error).message}`, { cause });
  }
  return {
    kind: 'redis',
    client,
    connect,
    keyPrefix: `{${options.keyPrefix}}`,
    ping: async () => void (await client.ping()),
    close: async () => client.disconnect(),
  };
}
