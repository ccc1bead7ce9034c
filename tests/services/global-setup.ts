// Starts the servers the tests need, once for the whole run, and stops them afterwards.
import { chmodSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { PGlite } from '@electric-sql/pglite';
import type { TestProject } from 'vitest/node';
import { offerDocker } from './offer-docker.ts';
import { startPostgres } from './postgres.ts';
import { startRedis } from './redis.ts';
import { startS3 } from './s3.ts';

declare module 'vitest' {
  interface ProvidedContext {
    redisUrl: string | null;
    postgresUrl: string | null;
    /** A fresh PGlite folder to copy: making one takes seconds, copying it does not. */
    pgliteTemplate: string;
    /** Where to ask for the Docker engine, which is started then. */
    dockerUrl: string;
    s3Url: string;
  }
}

export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  // Everything the tests put on disk, removed in one go.
  const folder = mkdtempSync(join(tmpdir(), 'hummingbird-tests-'));
  chmodSync(folder, 0o755);
  process.env.TMPDIR = folder;
  const template = join(folder, 'pglite-template');
  const docker = await offerDocker();
  const [redis, postgres, s3] = await Promise.all([
    startRedis(),
    startPostgres(),
    startS3(),
    makeTemplate(template),
  ]);
  project.provide('redisUrl', redis?.url ?? null);
  project.provide('postgresUrl', postgres?.url ?? null);
  project.provide('pgliteTemplate', template);
  project.provide('dockerUrl', docker.url);
  project.provide('s3Url', s3.url);
  return async () => {
    await Promise.all([redis?.stop(), postgres?.stop(), s3.stop(), docker.stop()]);
    rmSync(folder, { recursive: true, force: true });
  };
}

async function makeTemplate(folder: string): Promise<void> {
  const pglite = await PGlite.create(folder);
  await pglite.close();
}
