// An S3 server of its own, as a process: s3rver, which knows no conditional writes.
import { randomUUID } from 'node:crypto';
import { mkdtempSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import type { S3Options } from '../../src/session/s3/s3-options.ts';
import { freePort, type Server, startServer } from './server.ts';

export const S3_BUCKET = 'hummingbird-sessions';
export const S3_KEYS = { accessKeyId: 'S3RVER', secretAccessKey: 'S3RVER' };

export async function startS3(): Promise<Server> {
  const port = await freePort();
  const folder = dirname(createRequire(import.meta.url).resolve('s3rver/package.json'));
  const data = mkdtempSync(join(tmpdir(), 'hummingbird-s3-'));
  const url = `http://127.0.0.1:${port}`;
  return startServer({
    command: process.execPath,
    args: [
      ...['--no-deprecation', join(folder, 'bin/s3rver.js'), '--silent', '--address', '127.0.0.1'],
      ...['--port', `${port}`, '--directory', data, '--configure-bucket', S3_BUCKET],
    ],
    url,
    ready: async () => void (await fetch(url)),
  });
}

/** Objects of nobody else. */
export function s3Options(endpoint: string, changed: Partial<S3Options> = {}): S3Options {
  return {
    bucket: S3_BUCKET,
    prefix: `${randomUUID()}/`,
    endpoint,
    forcePathStyle: true,
    credentials: S3_KEYS,
    learn: () => undefined,
    environment: new Map([['HOME', '/nowhere']]),
    timeoutMs: 10_000,
    attempts: 2,
    ...changed,
  };
}
