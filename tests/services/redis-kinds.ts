// Redis in the forms in which it is operated: a cluster of three, a master with sentinels, with TLS.
import { execFileSync } from 'node:child_process';
import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Redis, type RedisOptions } from 'ioredis';
import { findProgram, freePort, type Server, startServer } from './server.ts';

export interface RedisServers {
  url: string;
  servers: Server[];
}

type Login = Pick<RedisOptions, 'password' | 'tls'>;

const PASSWORD = 's3cret:/@';

export async function startCluster(): Promise<RedisServers & { askFirst(...command: string[]): void }> {
  const ports = [await freePort(), await freePort(), await freePort()];
  const servers = await Promise.all(
    ports.map(async (port) =>
      start(port, { 'cluster-enabled': 'yes', 'cluster-port': `${await freePort()}`, ...withPassword() }),
    ),
  );
  const hosts = ports.map((port) => `127.0.0.1:${port}`);
  const create = ['--cluster', 'create', ...hosts, '--cluster-yes', '-a', PASSWORD, '--no-auth-warning'];
  const ask = (...args: string[]) => execFileSync(findProgram('redis-cli') ?? '', args, { stdio: 'pipe' });
  ask(...create);
  return {
    url: `redis-cluster://:${encodeURIComponent(PASSWORD)}@${hosts.join(',')}`,
    servers,
    askFirst: (...command) => void ask('-p', `${ports[0]}`, '-a', PASSWORD, '--no-auth-warning', ...command),
  };
}

/** The first server is the master, the last one the sentinel. */
export async function startSentinel(): Promise<RedisServers> {
  const [master, replica, sentinel] = [await freePort(), await freePort(), await freePort()];
  const servers = [
    await start(master, withPassword()),
    await start(replica, { ...withPassword(), replicaof: `127.0.0.1 ${master}` }),
  ];
  const file = join(mkdtempSync(join(tmpdir(), 'hummingbird-sentinel-')), 'sentinel.conf');
  const settings = [
    `port ${sentinel}`,
    'bind 127.0.0.1',
    `sentinel monitor jobs 127.0.0.1 ${master} 1`,
    `sentinel auth-pass jobs ${PASSWORD}`,
    'sentinel down-after-milliseconds jobs 500',
    'sentinel failover-timeout jobs 3000',
  ];
  writeFileSync(file, `${settings.join('\n')}\n`);
  const knowsReplica = async (client: Redis): Promise<void> => {
    const replicas = await client.call('SENTINEL', 'REPLICAS', 'jobs');
    if (!String(replicas).includes('master-link-status,ok')) throw new Error('the replica is not known yet');
  };
  servers.push(await launch(sentinel, [file, '--sentinel'], {}, knowsReplica));
  return { url: `redis-sentinel://:${encodeURIComponent(PASSWORD)}@127.0.0.1:${sentinel}/jobs/0`, servers };
}

export async function startTls(): Promise<RedisServers> {
  const port = await freePort();
  const dir = mkdtempSync(join(tmpdir(), 'hummingbird-tls-'));
  const [key, cert] = [join(dir, 'key.pem'), join(dir, 'cert.pem')];
  const request = ['req', '-x509', '-newkey', 'rsa:2048', '-nodes', '-days', '2', '-subj', '/CN=localhost'];
  const names = ['-addext', 'subjectAltName=DNS:localhost,IP:127.0.0.1'];
  execFileSync('openssl', [...request, ...names, '-keyout', key, '-out', cert], { stdio: 'pipe' });
  const files = { 'tls-cert-file': cert, 'tls-key-file': key, 'tls-ca-cert-file': cert };
  const settings = { port: '0', 'tls-port': `${port}`, 'tls-auth-clients': 'no', ...files };
  const server = await start(port, settings, { tls: { rejectUnauthorized: false } });
  return { url: `rediss://localhost:${port}/0?ca=${encodeURIComponent(cert)}`, servers: [server] };
}

function withPassword(): Record<string, string> {
  return { requirepass: PASSWORD, masterauth: PASSWORD };
}

function start(port: number, settings: Record<string, string>, client: Login = {}): Promise<Server> {
  const dir = mkdtempSync(join(tmpdir(), 'hummingbird-redis-'));
  const all = { port: `${port}`, bind: '127.0.0.1', dir, save: '', ...settings };
  const args = Object.entries(all).flatMap(([name, value]) => [`--${name}`, ...value.split(' ')]);
  const password = settings.requirepass ? { password: settings.requirepass } : {};
  return launch(port, args, { ...client, ...password });
}

function launch(
  port: number,
  args: string[],
  options: Login,
  check: (client: Redis) => Promise<void> = async () => undefined,
): Promise<Server> {
  const command = findProgram('redis-server') ?? '';
  const ready = async (): Promise<void> => {
    const client = new Redis({ port, lazyConnect: true, retryStrategy: () => null, ...options });
    client.on('error', () => undefined);
    try {
      await client.connect();
      await client.ping();
      await check(client);
    } finally {
      client.disconnect();
    }
  };
  return startServer({ command, args, url: '', ready });
}
