import { PermanentError } from './errors.ts';

export interface RedisAddress {
  kind: 'single' | 'sentinel' | 'cluster';
  nodes: { host: string; port: number }[];
  /** User, password, database: the same for every server. */
  options: { username?: string; password?: string; db?: number };
  /** With the file of the authority, if it is one of their own. */
  tls: { caFile: string | null } | null;
  /** Of the master, as the sentinels know it, and how they want to be spoken to. */
  sentinel: {
    name?: string;
    sentinelUsername?: string;
    sentinelPassword?: string;
    enableTLSForSentinelMode?: boolean;
  };
}

const FORM =
  /^redis(s?)(?:-(sentinel|cluster))?:\/\/(?:([^:@/]*)(?::([^@/]*))?@)?([^/?]+)(?:\/([^/?]*))?(?:\/(\d+))?(?:\?(.*))?$/;
const PORTS = { single: 6379, sentinel: 26379, cluster: 6379 };

/**
 * `redis://user:password@host:6379/0`, `redis-sentinel://host:26379,host:26379/master/0`,
 * `redis-cluster://host:6379,host:6379`; `rediss…` with TLS, whose authority may stand in the file `?ca=…`.
 */
export function parseRedisUrl(url: string): RedisAddress {
  const [, tls, mode, username, password, hosts = '', first, second, query] = FORM.exec(url) ?? [];
  if (hosts === '') throw malformed();
  const kind = mode === 'sentinel' || mode === 'cluster' ? mode : 'single';
  const nodes = hosts.split(',').map((host) => toNode(host, PORTS[kind]));
  const name = kind === 'sentinel' ? first : undefined;
  const db = kind === 'sentinel' ? second : first;
  const params = new URLSearchParams(query);
  if (kind === 'sentinel' && !name) throw malformed();
  if (kind === 'single' && nodes.length > 1) throw malformed();
  if (db && (!/^\d+$/.test(db) || kind === 'cluster')) throw malformed();
  return {
    kind,
    nodes,
    options: {
      ...(username && { username: decode(username) }),
      ...(password && { password: decode(password) }),
      ...(db && { db: Number(db) }),
    },
    tls: tls ? { caFile: params.get('ca') } : null,
    sentinel: {
      ...(name && { name: decode(name) }),
      ...(params.has('sentinelUsername') && { sentinelUsername: params.get('sentinelUsername') ?? '' }),
      ...(params.has('sentinelPassword') && { sentinelPassword: params.get('sentinelPassword') ?? '' }),
      ...(tls && { enableTLSForSentinelMode: true }),
    },
  };
}

function toNode(text: string, usualPort: number): { host: string; port: number } {
  const [, bracketed, plain = '', port] = /^(?:\[([^\]]+)\]|([^:]+))(?::(\d{1,5}))?$/.exec(text) ?? [];
  const host = bracketed ?? plain;
  if (host === '') throw malformed();
  return { host, port: port === undefined ? usualPort : Number(port) };
}

function decode(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch (error) {
    throw malformed(error);
  }
}

/** Without the address: it may hold a password. */
function malformed(cause?: unknown): PermanentError {
  return new PermanentError(
    'the address of Redis is malformed; write redis://host:6379/0, redis-sentinel://host:26379,host:26379/master ' +
      'or redis-cluster://host:6379,host:6379, with rediss… for TLS; a % in a password is written %25; check HUMMINGBIRD_QUEUE_URL or queue.url',
    { cause },
  );
}
