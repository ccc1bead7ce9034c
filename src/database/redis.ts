import { readFileSync } from 'node:fs';
import { Cluster, Redis, type RedisOptions } from 'ioredis';
import { withDeadline } from '../deadline.ts';
import { PermanentError, RetryableError } from '../errors.ts';
import { parseRedisUrl, type RedisAddress } from '../redis-address.ts';
import type { DatabaseOptions, RedisConnectionOptions, RedisDatabase } from './database.ts';

const CONNECT_TIMEOUT_MS = 5_000;
const READY_MS = 10_000;

export async function openRedis(url: string, options: DatabaseOptions): Promise<RedisDatabase> {
  const address = parseRedisUrl(url);
  const tls = toTls(address);
  const connect = (extra: RedisConnectionOptions): Redis => {
    const client = createClient(address, { ...tls, ...extra });
    client.on('error', options.onError);
    return client;
  };
  const client = connect({ enableOfflineQueue: false, maxRetriesPerRequest: 1, lazyConnect: true });
  try {
    // A cluster that is not complete yet is connected to again, of which the first call hears nothing.
    const ready = new Promise<void>((resolve) => client.once('ready', () => resolve()));
    await withDeadline(READY_MS, 'the server', Promise.race([client.connect(), ready]));
  } catch (cause) {
    client.disconnect();
    // A cluster tells only of its last node why.
    const { lastNodeError } = cause as { lastNodeError?: Error };
    if (/WRONGPASS|NOAUTH|NOPERM/.test(`${cause} ${lastNodeError}`))
      throw new PermanentError('Redis refuses our password or user; check HUMMINGBIRD_QUEUE_URL', { cause });
    throw new RetryableError(
      `Redis can not be reached: ${(cause as Error).message}; check that it runs, and HUMMINGBIRD_QUEUE_URL or queue.url`,
      { cause },
    );
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

function toTls({ tls }: RedisAddress): Pick<RedisOptions, 'tls'> {
  if (!tls) return {};
  if (tls.caFile === null) return { tls: {} };
  try {
    return { tls: { ca: readFileSync(tls.caFile) } };
  } catch (cause) {
    throw new PermanentError(`the file ${tls.caFile} of ?ca= in the address of Redis can not be read`, {
      cause,
    });
  }
}

function createClient(
  address: RedisAddress,
  { tls, ...extra }: RedisConnectionOptions & Pick<RedisOptions, 'tls'>,
): Redis {
  const retryStrategy = (attempt: number): number => Math.min(attempt * 100, 2_000);
  const options = {
    ...address.options,
    ...(tls && { tls }),
    connectTimeout: CONNECT_TIMEOUT_MS,
    retryStrategy,
    // After a failover the old master is a replica, and says so.
    reconnectOnError: (error: Error) => (error.message.startsWith('READONLY') ? (2 as const) : false),
  };
  if (address.kind === 'cluster') {
    const { enableOfflineQueue = true, lazyConnect = false, maxRetriesPerRequest = null } = extra;
    const cluster = new Cluster(address.nodes, {
      redisOptions: { ...options, maxRetriesPerRequest },
      clusterRetryStrategy: retryStrategy,
      slotsRefreshTimeout: CONNECT_TIMEOUT_MS,
      // Certificates name hosts, not the addresses they have.
      ...(options.tls && { dnsLookup: (host, done) => done(null, host) }),
      enableOfflineQueue,
      lazyConnect,
    });
    // It has the same commands, and all keys are in one slot.
    return cluster as unknown as Redis;
  }
  if (address.kind === 'sentinel')
    return new Redis({ ...options, ...address.sentinel, ...extra, sentinels: address.nodes });
  const [node] = address.nodes;
  return new Redis({ ...options, ...node, ...extra });
}
