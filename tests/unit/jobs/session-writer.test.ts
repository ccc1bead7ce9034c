// What is left of a run that is saved and broken off, at any moment.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readdirSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import pino from 'pino';
import { describe, expect, inject, onTestFinished, test } from 'vitest';
import { openSessionFiles } from '../../../src/jobs/session-files.ts';
import { createSessionWriter } from '../../../src/jobs/session-writer.ts';
import { createSpool } from '../../../src/jobs/spool.ts';
import type { Sandbox } from '../../../src/sandbox/sandbox.ts';
import { createVirtualSandboxes } from '../../../src/sandbox/virtual/provider.ts';
import { openFolderStore } from '../../../src/session/folder-store.ts';
import { openS3Store } from '../../../src/session/s3-store.ts';
import { type SessionStore, SessionTakenError } from '../../../src/session/session-store.ts';
import { s3Options } from '../../services/s3.ts';
import { startS3Proxy } from '../../services/s3-proxy.ts';
import { newMeta } from '../../services/session-meta.ts';

const ID = 's';
const PATHS = ['/tmp/data/a', '/tmp/data/b', '/tmp/data/c/d', '/tmp/_out/e'];

describe('a session that is saved', () => {
  test('costs one write for a turn that changes no files', async () => {
    const proxy = await startS3Proxy();
    const store = openS3Store(s3Options(proxy.url));
    const { sandbox, writer } = await begin(store);
    await sandbox.writeFile('/tmp/data/log', 'x'.repeat(1_000));
    await writer.checkpoint(said('one'));
    proxy.seen.length = 0;
    await writer.checkpoint(said('two'));
    expect(proxy.seen.map(({ method, key }) => `${method} ${key.split('/').pop()}`)).toEqual([
      'HEAD context.json',
      'PUT context.json',
    ]);
  });

  test('has one archive for each turn that changes files, and sandbox.tar.gz alone at the end', async () => {
    const store = openFolder();
    const { sandbox, writer } = await begin(store);
    for (const turn of ['1', '2', '3']) {
      await sandbox.writeFile(`/tmp/data/${turn}`, turn);
      await writer.checkpoint(said(turn));
    }
    expect((await store.load(ID))?.context.files).toHaveLength(3);
    await writer.finish(said('end'), newMeta(ID, { runs: 1 }));
    const { context, meta } = (await store.load(ID)) ?? {};
    expect(context?.files).toMatchObject([{ name: 'sandbox.tar.gz' }]);
    expect(meta?.runs).toBe(1);
    expect(await store.listFiles(ID)).toEqual([]);
    const names = (await Array.fromAsync(store.catalog.objects(ID))).map(({ name }) => name);
    expect(names).toEqual(['context.json', 'meta.json', 'sandbox.tar.gz']);
    expect(await filesOf((await resume(store)).sandbox)).toMatchObject({});
  });

  test('may go on after its end: what is removed then is gone', async () => {
    const store = openFolder();
    const { sandbox, writer } = await begin(store);
    await writer.checkpoint(said('one'));
    await sandbox.writeFile('/tmp/data/a', 'soon gone');
    await writer.finish(said('two'), newMeta(ID));
    await exec(sandbox, 'rm /tmp/data/a');
    await writer.checkpoint(said('three'));
    expect(await filesOf((await resume(store)).sandbox)).toEqual({});
  });

  test('does not grow without end by a file that changes in every turn', async () => {
    const store = openFolder();
    const { sandbox, writer } = await begin(store);
    for (let turn = 0; turn < 40; turn += 1) {
      await sandbox.writeFile('/tmp/data/a', `${turn}`);
      await writer.checkpoint(said(`${turn}`));
    }
    expect((await store.load(ID))?.context.files?.length).toBeLessThanOrEqual(32);
    expect(await filesOf((await resume(store)).sandbox)).toEqual({ '/tmp/data/a': '39' });
  });

  test('goes on with its files and lets nobody who was there before save it', async () => {
    const store = openFolder();
    const first = await begin(store);
    await first.sandbox.writeFile('/tmp/data/a', 'first');
    await first.writer.checkpoint(said('first'));

    const second = await resume(store);
    await second.writer.begin(said('second'));
    await first.sandbox.writeFile('/tmp/data/a', 'late');
    await expect(first.writer.checkpoint(said('late'))).rejects.toThrow(SessionTakenError);
    await expect(first.writer.finish(said('late'), newMeta(ID))).rejects.toThrow(SessionTakenError);
    await second.writer.finish(said('second'), newMeta(ID));

    expect((await store.load(ID))?.context.messages).toEqual(said('second'));
    expect(await filesOf((await resume(store)).sandbox)).toEqual({ '/tmp/data/a': 'first' });
  });

  test('a save that failed, done or not, is made up for by the next one', async () => {
    for (const isDone of [true, false]) {
      const store = openFolder();
      let isFailing = false;
      const { sandbox, writer } = await begin({
        ...store,
        async saveContext(id, context) {
          if (!isFailing || isDone) await store.saveContext(id, context);
          if (isFailing) throw new Error('no answer');
        },
      });
      isFailing = true;
      await sandbox.writeFile('/tmp/data/a', 'kept');
      await expect(writer.checkpoint(said('one'))).rejects.toThrow('no answer');
      isFailing = false;
      await writer.checkpoint(said('two'));
      expect(await filesOf((await resume(store)).sandbox)).toEqual({ '/tmp/data/a': 'kept' });
    }
  });
});

describe('a checkpoint that is left behind', () => {
  const MOMENTS = ['saveFiles', 'saveContext'] as const;

  test.each(MOMENTS.flatMap((name) => [true, false].map((isDone) => [name, isDone] as const)))(
    'in %s (done: %s) spoils nothing of the last saving, however late it goes on',
    async (name, isDone) => {
      const store = openFolder();
      const { hanging, arm, isReached, release } = hangingOnce(store, name, isDone);
      const { sandbox, writer } = await begin(hanging);
      arm();
      await sandbox.writeFile('/tmp/data/a', 'early');
      const leftBehind = writer.checkpoint(said('early'));
      const outcome = Promise.allSettled([leftBehind]);
      await isReached;
      await sandbox.writeFile('/tmp/data/b', 'late');
      await writer.finish(said('end'), newMeta(ID, { runs: 1 }));
      release();
      await outcome;

      const { context, meta } = (await store.load(ID)) ?? {};
      expect(context?.messages).toEqual(said('end'));
      expect(context?.files).toMatchObject([{ name: 'sandbox.tar.gz' }]);
      expect(meta?.runs).toBe(1);
      expect(await filesOf((await resume(store)).sandbox)).toEqual({
        '/tmp/data/a': 'early',
        '/tmp/data/b': 'late',
      });
    },
  );

  test('and a last saving that is left behind too spoil nothing of what was kept elsewhere', async () => {
    const [store, elsewhere] = [openFolder(), openFolder()];
    const { hanging, arm, isReached, release } = hangingOnce(store, 'saveFiles', false);
    const { sandbox, writer } = await begin(hanging);
    arm();
    await sandbox.writeFile('/tmp/data/a', 'kept');
    const outcome = Promise.allSettled([writer.finish(said('end'), newMeta(ID))]);
    await isReached;
    await writer.finishInto(elsewhere, said('end'), newMeta(ID, { runs: 1 }));
    await createSpool({ from: elsewhere, to: store, log: pino({ level: 'silent' }) }).deliver(ID);
    release();
    await outcome;
    const { context, meta } = (await store.load(ID)) ?? {};
    expect([context?.messages, meta?.runs]).toEqual([said('end'), 1]);
    expect(await filesOf((await resume(store)).sandbox)).toEqual({ '/tmp/data/a': 'kept' });
  });
});

describe('a worker that is killed', () => {
  test('between files and conversation leaves the turn before, files and words', async () => {
    const dir = mkdtempSync(join(tmpdir(), 'hummingbird-killed-'));
    const script = join(import.meta.dirname, '../../services/writer-process.ts');
    const child = spawn(process.execPath, [script, dir], { stdio: ['ignore', 'pipe', 'inherit'] });
    await once(child.stdout, 'data');
    child.kill('SIGKILL');
    await once(child, 'exit');
    expect(readdirSync(join(dir, ID, 'files'))).toHaveLength(2);

    const store = openFolderStore({ dir });
    const { sandbox, writer } = await resume(store);
    expect((await store.load(ID))?.context.messages).toEqual(said('first'));
    expect(await filesOf(sandbox)).toEqual({ '/tmp/data/a': 'first' });
    await writer.begin(said('again'));
    await writer.finish(said('again'), newMeta(ID));
    expect(readdirSync(join(dir, ID, 'files'))).toEqual([]);
  });

  test.each<[string, () => SessionStore, number]>([
    ['a folder', openFolder, 12],
    ['S3', () => openS3Store(s3Options(inject('s3Url'))), 5],
  ])(
    'at any moment leaves exactly the files of the last conversation, in %s',
    async (_where, open, numRuns) => {
      const step = fc.record({
        writes: fc.array(fc.tuple(fc.constantFrom(...PATHS), fc.string({ maxLength: 30 })), { maxLength: 3 }),
        removes: fc.array(fc.constantFrom(...PATHS), { maxLength: 2 }),
        kind: fc.constantFrom('checkpoint', 'checkpoint', 'checkpoint', 'finish'),
      });
      const run = fc.record({
        steps: fc.array(step, { minLength: 1, maxLength: 4 }),
        crashAt: fc.nat(14),
        isDone: fc.boolean(),
      });
      await fc.assert(
        fc.asyncProperty(fc.array(run, { minLength: 1, maxLength: 3 }), async (runs) => {
          const store = open();
          const states = new Map<string, Record<string, string>>([['begun', {}]]);
          for (const [number, { steps, crashAt, isDone }] of runs.entries()) {
            const { sandbox, session, writer } = await resume(store, crashing(store, crashAt, isDone));
            const { content: last = 'begun' } = session?.context.messages[0] ?? {};
            expect(await filesOf(sandbox)).toEqual(states.get(last));
            try {
              await writer.begin(said(last));
              for (const [turn, { writes, removes, kind }] of steps.entries()) {
                for (const [path, content] of writes) await sandbox.writeFile(path, content);
                if (removes.length > 0) await exec(sandbox, `rm -f ${removes.join(' ')}`);
                const name = `${number}.${turn}`;
                states.set(name, await filesOf(sandbox));
                if (kind === 'finish') await writer.finish(said(name), newMeta(ID));
                else await writer.checkpoint(said(name));
              }
            } catch (error) {
              expect(error).toBeInstanceOf(Crash);
            }
          }
          const { session, sandbox } = await resume(store);
          const { content: last = 'begun' } = session?.context.messages[0] ?? {};
          expect(await filesOf(sandbox)).toEqual(states.get(last));
        }),
        { numRuns, endOnFailure: true },
      );
    },
    60_000,
  );
});

class Crash extends Error {}

/** Ends with the given operation, which may have been done; afterwards nothing is done any more. */
function crashing(store: SessionStore, crashAt: number, isDone: boolean): SessionStore {
  let count = 0;
  const writing = ['saveContext', 'saveFiles', 'saveMeta', 'copyToSandbox', 'removeFiles'] as const;
  const wrapped = writing.map((name) => [
    name,
    async (...args: unknown[]) => {
      count += 1;
      if (count > crashAt + 1 || (count === crashAt + 1 && !isDone)) throw new Crash(name);
      const operation = store[name] as (...args: unknown[]) => Promise<unknown>;
      const outcome = await operation(...args);
      if (count === crashAt + 1) throw new Crash(name);
      return outcome;
    },
  ]);
  return { ...store, ...Object.fromEntries(wrapped) };
}

/** Once it is armed, the next such operation hangs until it is released; before that it is done, or afterwards. */
function hangingOnce(store: SessionStore, name: 'saveFiles' | 'saveContext', isDone: boolean) {
  const reached = Promise.withResolvers<void>();
  const released = Promise.withResolvers<void>();
  let isArmed = false;
  const operation = store[name] as (...args: unknown[]) => Promise<unknown>;
  const hang = async (...args: unknown[]): Promise<unknown> => {
    if (!isArmed) return operation(...args);
    isArmed = false;
    const early = isDone ? await operation(...args) : undefined;
    reached.resolve();
    await released.promise;
    return isDone ? early : operation(...args);
  };
  const arm = (): void => {
    isArmed = true;
  };
  return {
    hanging: { ...store, [name]: hang },
    arm,
    isReached: reached.promise,
    release: () => released.resolve(),
  };
}

function openFolder() {
  return openFolderStore({ dir: mkdtempSync(join(tmpdir(), 'hummingbird-writer-')) });
}

async function begin(store: SessionStore) {
  const begun = await resume(store);
  await begun.writer.begin(said('begun'));
  return begun;
}

async function resume(store: SessionStore, writeTo = store) {
  const sandbox = await createVirtualSandboxes({ maxBytes: 1_000_000 }).create();
  onTestFinished(() => sandbox.close());
  const session = await store.load(ID);
  const archive = await openSessionFiles(session);
  if (archive) await sandbox.restore(archive);
  const writer = createSessionWriter({
    ...{ store: writeTo, sandbox, keepBytes: 1_000_000, session, isRestored: archive !== null },
    ...{ log: pino({ level: 'silent' }), now: Date.now, meta: newMeta(ID), folders: [] },
  });
  return { sandbox, session, writer };
}

function said(content: string) {
  return [{ role: 'user' as const, content }];
}

async function exec(sandbox: Sandbox, command: string): Promise<void> {
  const { signal } = new AbortController();
  await sandbox.exec(command, { timeoutMs: 5_000, maxOutputBytes: 1_000, signal });
}

async function filesOf(sandbox: Sandbox): Promise<Record<string, string>> {
  const found: [string, string][] = [];
  for (const path of PATHS) {
    const content = await sandbox.readFile(path);
    if (content) found.push([path, content.toString()]);
  }
  return Object.fromEntries(found);
}
