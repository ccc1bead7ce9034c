import { execFileSync } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { chownSync, mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pg from 'pg';
import { findProgram, freePort, type Server, startServer } from './server.ts';

export async function startPostgres(): Promise<Server | null> {
  const [initdb, postgres] = [findProgram('initdb'), findProgram('postgres')];
  if (!initdb || !postgres) return null;
  const folder = mkdtempSync(join(tmpdir(), 'hummingbird-postgres-'));
  const user = unprivilegedUser();
  if (user) chownSync(folder, user.uid, user.gid);
  const data = join(folder, 'data');
  execFileSync(initdb, ['-D', data, '-U', 'postgres', '-A', 'trust', '--no-sync'], { ...user, cwd: folder });
  const rules = join(data, 'pg_hba.conf');
  writeFileSync(rules, `host all ${GUARDED} 127.0.0.1/32 scram-sha-256\n${readFileSync(rules, 'utf8')}`);
  const port = await freePort();
  const url = `postgres://postgres@127.0.0.1:${port}/postgres`;
  const args = [
    '-D',
    data,
    '-p',
    `${port}`,
    '-h',
    '127.0.0.1',
    '-k',
    folder,
    '-F',
    '-c',
    'max_connections=300',
  ];
  const options = { ...user, cwd: folder };
  return startServer({
    command: postgres,
    args,
    options,
    url,
    stopSignal: 'SIGINT',
    ready: () => ping(url),
  });
}

/** A database of its own on the shared server. */
export async function createPostgresDatabase(serverUrl: string): Promise<string> {
  const name = `test_${randomUUID().replaceAll('-', '')}`;
  const client = new pg.Client(serverUrl);
  await client.connect();
  await client.query(`CREATE DATABASE ${name}`);
  await client.end();
  const url = new URL(serverUrl);
  url.pathname = `/${name}`;
  return url.href;
}

/** The one user of the shared server that needs a password. */
const GUARDED = 'guarded';

/** Its address for that user, without the password. */
export async function guardPostgresDatabase(url: string, password: string): Promise<string> {
  const client = new pg.Client(url);
  await client.connect();
  await client.query(`CREATE ROLE ${GUARDED} LOGIN PASSWORD ${pg.escapeLiteral(password)}`);
  await client.query(`ALTER DATABASE ${new URL(url).pathname.slice(1)} OWNER TO ${GUARDED}`);
  await client.end();
  const address = new URL(url);
  address.username = GUARDED;
  return address.href;
}

/** PostgreSQL refuses to run as root; Debian's package brings a user for it. */
function unprivilegedUser(): { uid: number; gid: number } | null {
  if (process.getuid?.() !== 0) return null;
  const id = (flag: string): number => Number(execFileSync('id', [flag, 'postgres'], { encoding: 'utf8' }));
  return { uid: id('-u'), gid: id('-g') };
}

async function ping(url: string): Promise<void> {
  const client = new pg.Client(url);
  client.on('error', () => undefined);
  await client.connect();
  await client.end();
}
