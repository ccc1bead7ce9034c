// Whatever place sessions are kept in, no secret gets into it, nor out of what was saved before.
import { randomUUID } from 'node:crypto';
import { mkdtempSync } from 'node:fs';
import { readdir, readFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import pino from 'pino';
import { expect, inject, onTestFinished, test } from 'vitest';
import { loadConfig } from '../../../src/config/config.ts';
import { createRedactor } from '../../../src/redact/redactor.ts';
import { openSessions } from '../../../src/service/sessions.ts';
import { openFolderStore } from '../../../src/session/folder-store.ts';
import { withRedaction } from '../../../src/session/redacted-store.ts';
import type { SessionContext, SessionStore } from '../../../src/session/session-store.ts';
import { S3_BUCKET, S3_KEYS } from '../../services/s3.ts';
import { newMeta } from '../../services/session-meta.ts';

const OWN = 'own-token-of-the-service-1';
const REMOVED = '[redacted: own-secret]';
const redactor = createRedactor({ secrets: [OWN] });
const said = (words: string): SessionContext => ({
  version: 1,
  messages: [{ role: 'user', content: words }],
});

test('turns that were cut out of a conversation are kept without secrets', async () => {
  const dir = newFolder();
  const store = withRedaction(openFolderStore({ dir }), redactor);
  await saveAll(store);
  const history = await readdir(join(dir, 's', 'history'));
  expect(history).toHaveLength(1);
  expect(await readAll(dir)).not.toContain(OWN);
  expect(await readFile(join(dir, 's', 'history', history[0] ?? ''), 'utf8')).toContain(`asked ${REMOVED}`);
});

test('what was saved before it was known as a secret is loaded without it, in the conversation and about it', async () => {
  const plain = openFolderStore({ dir: newFolder() });
  await plain.saveContext('s', said(`Why ${OWN}?`));
  await plain.saveMeta('s', newMeta('s', { projectPath: `group/${OWN}` }));
  expect(await withRedaction(plain, redactor).load('s')).toMatchObject({
    context: said(`Why ${REMOVED}?`),
    meta: { projectPath: `group/${REMOVED}` },
  });
});

test('neither S3 nor the folder for what can not be saved there holds one', async () => {
  const { config } = loadConfig({ cwd: '/', env: {} });
  const spoolDir = newFolder();
  const { store, spool } = await openSessions(
    {
      ...config,
      store: {
        ...{ kind: 's3', bucket: S3_BUCKET, prefix: `${randomUUID()}/`, endpoint: inject('s3Url') },
        ...{ forcePathStyle: true, timeoutMs: 10_000, attempts: 2, spoolDir, retentionDays: 1 },
      },
    },
    { secrets: { s3Credentials: S3_KEYS, environment: new Map() }, redactor, log: pino({ level: 'silent' }) },
  );
  onTestFinished(() => store.close());
  if (!spool) throw new Error('no spool');

  await saveAll(store);
  const objects = await Array.fromAsync(store.catalog.objects('s'));
  const contents = await Promise.all(
    objects.map(async ({ name }) => text(await store.catalog.open('s', name))),
  );
  expect(contents.join('\n')).toContain(`asked ${REMOVED}`);
  expect(contents.join('\n')).not.toContain(OWN);

  await saveAll(spool.store);
  expect(await readAll(spoolDir)).toContain(`Why ${REMOVED}?`);
  expect(await readAll(spoolDir)).not.toContain(OWN);
});

async function saveAll(store: SessionStore): Promise<void> {
  await store.saveHistory('s', [{ role: 'user', content: `asked ${OWN}` }]);
  await store.saveContext('s', said(`Why ${OWN}?`));
  await store.saveMeta('s', newMeta('s', { projectPath: `group/${OWN}` }));
  await store.appendTranscript('s', { type: 'text', text: OWN });
  await store.flush('s');
}

function newFolder(): string {
  return mkdtempSync(join(tmpdir(), 'hummingbird-redacted-'));
}

async function readAll(dir: string): Promise<string> {
  const entries = await readdir(dir, { recursive: true, withFileTypes: true });
  const files = entries.filter((entry) => entry.isFile());
  return (await Promise.all(files.map((file) => readFile(join(file.parentPath, file.name), 'utf8')))).join(
    '\n',
  );
}
