import { mkdtempSync } from 'node:fs';
import { utimes } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pino from 'pino';
import { expect, onTestFinished, test } from 'vitest';
import { createSpool } from '../../../src/jobs/spool.ts';
import { startUpkeep } from '../../../src/service/session-upkeep.ts';
import { openFolderStore } from '../../../src/session/folder-store.ts';
import type { SessionContext } from '../../../src/session/session-store.ts';
import { pglite } from '../../services/backends.ts';
import { openAll } from '../../services/open-backend.ts';

const CONTEXT: SessionContext = { version: 1, messages: [{ role: 'user', content: 'why?' }] };
const TWO_DAYS_MS = 2 * 86_400_000;

test('a worker removes what is too old and not in use, and saves what could not be saved, also of an earlier process', async () => {
  const dir = mkdtempSync(join(tmpdir(), 'hummingbird-upkeep-'));
  const store = openFolderStore({ dir });
  const from = openFolderStore({ dir: `${dir}-unsaved` });
  for (const id of ['old', 'used', 'new']) await store.saveContext(id, CONTEXT);
  const longAgo = new Date(Date.now() - TWO_DAYS_MS);
  for (const id of ['old', 'used']) await utimes(join(dir, id, 'context.json'), longAgo, longAgo);
  await from.saveContext('unsaved', CONTEXT);
  const { records, close } = await openAll(await pglite.create());
  onTestFinished(close);
  await records.leases.acquire('session-used', { holder: 'a job', ttlMs: 60_000 });
  const log = pino({ level: 'silent' });

  const spool = createSpool({ from, to: store, log });
  const upkeep = startUpkeep({ store, spool, retentionDays: 1, records, log, now: Date.now });
  onTestFinished(() => upkeep.stop());

  const names = async () => (await Array.fromAsync(store.catalog.list())).map(({ name }) => name);
  await expect.poll(names, { timeout: 5_000 }).toEqual(['new', 'unsaved', 'used']);
  await expect.poll(() => from.load('unsaved')).toBeNull();
});
