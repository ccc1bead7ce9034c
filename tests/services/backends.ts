// The three backends every contract suite runs on.
import { randomUUID } from 'node:crypto';
import { cpSync, mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { inject } from 'vitest';
import { createPostgresDatabase } from './postgres.ts';

export interface Backend {
  name: string;
  available: boolean;
  /** Whether several processes may open it at once. */
  shared: boolean;
  /** The address of a fresh, empty database. */
  create(): Promise<{ url: string; keyPrefix: string }>;
}

export const pglite: Backend = {
  name: 'PGlite',
  available: true,
  shared: false,
  async create() {
    const folder = join(mkdtempSync(join(tmpdir(), 'hummingbird-')), 'db');
    cpSync(inject('pgliteTemplate'), folder, { recursive: true });
    return { url: `pglite:${folder}`, keyPrefix: 'unused' };
  },
};

export const postgres: Backend = {
  name: 'PostgreSQL',
  available: inject('postgresUrl') !== null,
  shared: true,
  create: async () => ({
    url: await createPostgresDatabase(inject('postgresUrl') ?? ''),
    keyPrefix: 'unused',
  }),
};

export const redis: Backend = {
  name: 'Redis',
  available: inject('redisUrl') !== null,
  shared: true,
  create: async () => ({ url: inject('redisUrl') ?? '', keyPrefix: `test-${randomUUID()}` }),
};

export const backends = [pglite, postgres, redis];

export function titleOf(subject: string, backend: Backend): string {
  return `${subject} on ${backend.name}${backend.available ? '' : ' (skipped: the server is not installed)'}`;
}
