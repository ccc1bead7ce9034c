import { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { afterEach, describe, expect, test } from 'vitest';
import type { Message } from '../../src/agent/messages.ts';
import { NO_USAGE } from '../../src/agent/model.ts';
import { PermanentError } from '../../src/errors.ts';
import type { OpenedStore as OpenedSessions } from '../../src/session/create-store.ts';
import {
  type FilesPart,
  type Session,
  type SessionContext,
  SessionCorruptError,
  type SessionMeta,
  type SessionStore,
  SessionTakenError,
} from '../../src/session/session-store.ts';

export type StoredName =
  | 'context.json'
  | 'meta.json'
  | 'sandbox.tar.gz'
  | 'transcript.jsonl'
  | `history/${string}`;

export interface SessionBackend {
  name: string;
  open(): Promise<OpenedBackend>;
}

export interface OpenedBackend {
  store: OpenedSessions;
  /** The same sessions, as another process sees them. */
  reopen(): OpenedSessions;
  /** Around the store: what is kept under a name of a session; null when nothing is. */
  read(id: string, name: StoredName): Promise<Buffer | null>;
  write(id: string, name: StoredName, content: string): Promise<void>;
  close(): Promise<void>;
}

export function sessionContract(backend: SessionBackend): void {
  describe(`sessions: ${backend.name}`, () => {
    const opened: OpenedBackend[] = [];
    afterEach(async () => {
      await Promise.all(opened.splice(0).map((one) => one.close()));
    });

    async function open(): Promise<OpenedBackend> {
      const one = await backend.open();
      opened.push(one);
      return one;
    }

    test('a session that was never saved is null', async () => {
      const { store } = await open();
      expect(await store.load('unknown')).toBeNull();
    });

    test('a saved session is loaded as it was, also by another process', async () => {
      const { store, reopen } = await open();
      const files = [await saveFiles(store, 'base'), await saveFiles(store, 'change')];
      await store.saveContext(ID, { ...context(), files });
      await store.saveMeta(ID, meta());

      for (const reader of [store, reopen()]) {
        const session = await loaded(reader);
        expect(session.context).toEqual({ ...context(), files });
        expect(session.meta).toEqual(meta());
        expect(session.metaError).toBeNull();
        expect(await filesOf(session)).toEqual(['base', 'change']);
      }
    });

    test('a conversation keeps what a provider needs back, to the letter', async () => {
      const { store } = await open();
      await store.saveContext(ID, context());
      const saved = (await loaded(store)).context;
      expect(JSON.stringify(saved)).toBe(JSON.stringify(context()));
    });

    test('a conversation alone is a session without meta and files', async () => {
      const { store } = await open();
      await store.saveContext(ID, context());
      const session = await loaded(store);
      expect(session.meta).toBeNull();
      expect(session.metaError).toBeNull();
      expect(await session.openFiles()).toEqual([]);
    });

    test('a transcript, meta or files without a conversation is no session', async () => {
      const { store } = await open();
      await store.appendTranscript(ID, { event: 'started' });
      await store.saveMeta(ID, meta());
      await saveFiles(store, 'files');
      await store.flush(ID);
      expect(await store.load(ID)).toBeNull();
    });

    test('what is saved again replaces what was there', async () => {
      const { store } = await open();
      for (const text of ['a long first text', 'second']) {
        const files = [await saveFiles(store, text)];
        await store.saveContext(ID, { version: 1, messages: [{ role: 'user', content: text }], files });
        await store.saveMeta(ID, { ...meta(), ending: text });
      }
      const session = await loaded(store);
      expect(session.context.messages).toEqual([{ role: 'user', content: 'second' }]);
      expect(session.meta?.ending).toBe('second');
      expect(await filesOf(session)).toEqual(['second']);
    });

    test('sessions do not see each other', async () => {
      const { store } = await open();
      await store.saveContext('one', { version: 1, messages: [{ role: 'user', content: 'one' }] });
      await store.saveContext('two', context());
      expect((await store.load('one'))?.context.messages).toHaveLength(1);
      expect((await store.load('two'))?.context).toEqual(context());
    });

    test('an archive of several parts comes back whole', async () => {
      const { store } = await open();
      const chunks = Array.from({ length: 180 }, (_, index) => Buffer.alloc(100_000, index));
      const part = await store.saveFiles(ID, Readable.from(chunks));
      await store.saveContext(ID, { ...context(), files: [part] });
      const [openIt] = await (await loaded(store)).openFiles();
      expect(openIt && Buffer.concat(chunks).equals(await buffer(await openIt()))).toBe(true);
    });

    test('an archive whose stream fails is not kept', async () => {
      const { store } = await open();
      const broken = Readable.from(
        (function* () {
          yield Buffer.from('half of the new');
          throw new Error('sandbox is gone');
        })(),
      );
      await expect(store.saveFiles(ID, broken)).rejects.toThrow('sandbox is gone');
      expect(await store.listFiles(ID)).toEqual([]);
    });

    test('a session from before archives were named has its sandbox.tar.gz', async () => {
      const { store, write } = await open();
      await store.saveContext(ID, context());
      await write(ID, 'sandbox.tar.gz', 'from before');
      expect(await filesOf(await loaded(store))).toEqual(['from before']);
    });

    test('an archive is copied to sandbox.tar.gz, and others can be removed', async () => {
      const { store, read } = await open();
      const [old, part] = [await saveFiles(store, 'old'), await saveFiles(store, 'whole')];
      for (const one of [old, part]) {
        const sandbox = await store.copyToSandbox(ID, one);
        await store.saveContext(ID, { ...context(), files: [sandbox] });
      }
      expect((await store.listFiles(ID)).toSorted()).toEqual([old.name, part.name].toSorted());
      await store.removeFiles(ID, [old.name, part.name, 'files/never-there.tar.gz']);
      expect(await store.listFiles(ID)).toEqual([]);
      expect(await filesOf(await loaded(store))).toEqual(['whole']);
      expect((await read(ID, 'sandbox.tar.gz'))?.toString()).toBe('whole');
    });

    test.each<[string, string, RegExp]>([
      ['cut off', 'the fil', /cut off: 7 of 9 bytes/],
      ['altered', 'the Files', /altered/],
      ['longer', 'the files and more', /altered/],
    ])(
      'an archive that is %s is an error that names it, before any of it is read',
      async (_, content, words) => {
        const { store, write } = await open();
        const sandbox = await store.copyToSandbox(ID, await saveFiles(store, 'the files'));
        await store.saveContext(ID, { ...context(), files: [sandbox] });
        await write(ID, 'sandbox.tar.gz', content);
        const [openIt] = await (await loaded(store)).openFiles();
        const failure = openIt?.();
        await expect(failure).rejects.toThrow(SessionCorruptError);
        await expect(failure).rejects.toThrow(words);
        await expect(failure).rejects.toThrow('sandbox.tar.gz');
      },
    );

    test('an archive that is missing is an error that names it', async () => {
      const { store } = await open();
      const part = await saveFiles(store, 'files');
      await store.saveContext(ID, { ...context(), files: [part] });
      await store.removeFiles(ID, [part.name]);
      const [openIt] = await (await loaded(store)).openFiles();
      await expect(openIt?.()).rejects.toThrow(SessionCorruptError);
      await expect(openIt?.()).rejects.toThrow(part.name);
    });

    describe('with a stamp', () => {
      const stamped = (id: string, after: string | null, content = id): SessionContext => ({
        version: 1,
        stamp: { id, after },
        messages: [{ role: 'user', content }],
      });

      test('a conversation follows the one its writer has seen', async () => {
        const { store, reopen } = await open();
        await store.saveContext(ID, stamped('a', null));
        await reopen().saveContext(ID, stamped('b', 'a'));
        await store.saveContext(ID, stamped('c', 'b'));
        expect((await loaded(store)).context.stamp).toEqual({ id: 'c', after: 'b' });
      });

      test('a writer who has seen another one is refused, and nothing is lost', async () => {
        const { store, reopen } = await open();
        await store.saveContext(ID, stamped('a', null));
        await reopen().saveContext(ID, stamped('theirs', 'a'));
        const late = store.saveContext(ID, stamped('late', 'a'));
        await expect(late).rejects.toThrow(SessionTakenError);
        await expect(store.saveContext(ID, stamped('later', null))).rejects.toThrow(SessionTakenError);
        expect((await loaded(store)).context.messages[0]?.content).toBe('theirs');
      });

      test('the same saving may be repeated', async () => {
        const { store } = await open();
        await store.saveContext(ID, stamped('a', null));
        await store.saveContext(ID, stamped('a', null));
        await store.saveContext(ID, stamped('b', 'a'));
        await store.saveContext(ID, stamped('b', 'a'));
      });

      test('a saving that comes late does not replace a later one of the same writer', async () => {
        const { store, reopen } = await open();
        await store.saveContext(ID, stamped('w.1', null));
        await store.saveContext(ID, stamped('w.3', null));
        await expect(reopen().saveContext(ID, stamped('w.2', 'w.1'))).rejects.toThrow(SessionTakenError);
        await store.saveContext(ID, stamped('w.10', null));
        expect((await loaded(store)).context.messages[0]?.content).toBe('w.10');
        await expect(store.saveContext(ID, stamped('x.11', null))).rejects.toThrow(SessionTakenError);
      });

      test('a session from before stamps, and one that is gone, can be gone on with', async () => {
        const { store } = await open();
        await store.saveContext(ID, context());
        await store.saveContext(ID, stamped('a', null));
        await store.setAside(ID, 'old');
        await store.saveContext(ID, stamped('b', 'a'));
        expect((await loaded(store)).context.stamp?.id).toBe('b');
      });
    });

    describe('the catalog', () => {
      test('lists every session, those that were set aside too, with size and time', async () => {
        const { store } = await open();
        const before = Date.now() - 2_000;
        for (const id of ['one', 'two', 'three']) {
          await store.saveContext(id, context());
          await store.saveMeta(id, { ...meta(), sessionId: id });
        }
        await store.setAside('two', 'old');
        const found = await Array.fromAsync(store.catalog.list());
        expect(found.map(({ name }) => name.replace(/\d+/, 'N'))).toEqual(['one', 'three', 'two.N.old']);
        for (const { name, bytes, savedAt } of found) {
          expect(bytes).toBeGreaterThan(500);
          expect(savedAt.getTime()).toBeGreaterThan(before);
          expect(await store.catalog.loadMeta(name)).toMatchObject({ projectPath: 'group/app' });
        }
      });

      test('gives each object of a session, and removes a session for good', async () => {
        const { store } = await open();
        const part = await saveFiles(store, 'files');
        await store.saveContext(ID, { ...context(), files: [part] });
        await store.saveHistory(ID, context().messages);
        await store.saveContext('other', context());
        const found = await Array.fromAsync(store.catalog.objects(ID));
        expect(found.map(({ name }) => name).toSorted()).toEqual([
          'context.json',
          part.name,
          'history/0001.json',
        ]);
        expect((await buffer(await store.catalog.open(ID, part.name))).toString()).toBe('files');
        await store.catalog.remove(ID);
        await store.catalog.remove(ID);
        expect(await Array.fromAsync(store.catalog.objects(ID))).toEqual([]);
        expect(await store.load(ID)).toBeNull();
        expect(await Array.fromAsync(store.catalog.list())).toMatchObject([{ name: 'other' }]);
      });
    });

    test('says that it can be used', async () => {
      const { store } = await open();
      await store.probe();
      expect(await store.check()).toEqual(expect.any(Object));
      expect(await Array.fromAsync(store.catalog.list())).toEqual([]);
    });

    test('turns that were cut out are kept one after the other', async () => {
      const { store, read } = await open();
      await store.saveHistory(ID, [{ role: 'user', content: 'first' }]);
      await store.saveHistory(ID, [{ role: 'user', content: 'second' }]);
      expect((await read(ID, 'history/0001.json'))?.toString()).toContain('first');
      expect((await read(ID, 'history/0002.json'))?.toString()).toContain('second');
    });

    test('many saves at once leave one of them, whole', async () => {
      const { store } = await open();
      const texts = Array.from({ length: 20 }, (_, index) => `${index}`.repeat(50_000));
      await Promise.all(
        texts.map((content) => store.saveContext(ID, { version: 1, messages: [{ role: 'user', content }] })),
      );
      const [message] = (await loaded(store)).context.messages;
      expect(texts).toContain(message?.content);
    });

    test.each<[string, string]>([
      ['cut-off JSON', '{"version":1,"messages":[{"role":"us'],
      ['an empty file', ''],
      ['no JSON', 'messages: 1'],
      ['no object', '7'],
      ['no list of messages', '{"version":1,"messages":{}}'],
      ['no messages', '{"version":1,"messages":[]}'],
      ['a message of nobody', '{"version":1,"messages":[{"role":"system","content":""}]}'],
      ['a message that is no text', '{"version":1,"messages":[{"role":"user","content":7}]}'],
      ['a tool call without an id', JSON.stringify(withCall({ name: 'x', arguments: {} }))],
      ['a tool call without arguments', JSON.stringify(withCall({ id: 'a', name: 'x', arguments: [] }))],
      ['no version', '{"messages":[]}'],
    ])('%s is corrupt, and the error says where and what to do', async (_, content) => {
      const { store, write } = await open();
      await store.saveContext(ID, context());
      await store.saveMeta(ID, meta());
      await write(ID, 'context.json', content);
      const error = await store.load(ID).catch((thrown: unknown) => thrown);
      expect(error).toBeInstanceOf(SessionCorruptError);
      expect(String(error)).toContain('context.json');
      expect(String(error)).toContain(ID);
      expect(String(error)).toMatch(/delete/);
    });

    test.each<[string, string]>([
      ['cut-off JSON', '{"version":1,'],
      ['a list', '[]'],
      ['no project', JSON.stringify({ ...meta(), projectId: undefined })],
      ['a newer version', '{"version":2,"anything":"else"}'],
    ])('meta with %s is told, and does not cost the conversation', async (_, content) => {
      const { store, write } = await open();
      await store.saveContext(ID, context());
      await write(ID, 'meta.json', content);
      const session = await loaded(store);
      expect(session.context).toEqual(context());
      expect(session.meta).toBeNull();
      expect(session.metaError).toBeInstanceOf(SessionCorruptError);
      expect(String(session.metaError)).toContain('meta.json');
    });

    test('what is set aside is no session any more, and another one can take its place', async () => {
      const { store, write } = await open();
      await write(ID, 'context.json', '{');
      await store.setAside(ID, 'bad');
      expect(await store.load(ID)).toBeNull();
      await store.saveContext(ID, context());
      expect((await loaded(store)).context).toEqual(context());
    });

    test('an error about a corrupt conversation does not quote it', async () => {
      const { store, write } = await open();
      await write(ID, 'context.json', 'secret words {');
      const error = await store.load(ID).catch((thrown: unknown) => thrown);
      expect(error).toBeInstanceOf(SessionCorruptError);
      expect((error as Error).message).not.toContain('secret');
    });

    test('a conversation of a newer version asks for an upgrade', async () => {
      const { store, write } = await open();
      await write(ID, 'context.json', '{"version":2,"anything":"else"}');
      const error = await store.load(ID).catch((thrown: unknown) => thrown);
      expect(error).toBeInstanceOf(SessionCorruptError);
      expect(String(error)).toMatch(/newer.*version 2.*[Uu]pgrade/);
    });

    test('a corrupt session can be saved over', async () => {
      const { store, write } = await open();
      await write(ID, 'context.json', '{');
      await store.saveContext(ID, context());
      expect((await loaded(store)).context).toEqual(context());
    });

    test('there need not be a session to set one aside', async () => {
      const { store } = await open();
      await store.setAside(ID, 'old');
      expect(await store.load(ID)).toBeNull();
    });

    test('meta from before costs and files left out were kept has none', async () => {
      const { store, write } = await open();
      await store.saveContext(ID, context());
      const { usage: _usage, costMicroUsd: _cost, leftOut: _leftOut, ...old } = meta();
      await write(ID, 'meta.json', JSON.stringify(old));
      const session = await loaded(store);
      expect(session.meta).toEqual({ ...old, usage: NO_USAGE, costMicroUsd: 0, leftOut: [] });
    });

    test('what a later release adds to a message or to meta is kept', async () => {
      const { store, write } = await open();
      await write(
        ID,
        'context.json',
        '{"version":1,"messages":[{"role":"user","content":"x","mood":"good"}]}',
      );
      await write(ID, 'meta.json', JSON.stringify({ ...meta(), cost: 3 }));
      const session = await loaded(store);
      expect(session.context.messages[0]).toHaveProperty('mood', 'good');
      expect(session.meta).toHaveProperty('cost', 3);
    });

    test('events appended at once are in the transcript in the order of the calls, a line each', async () => {
      const { store, read } = await open();
      const events = Array.from({ length: 200 }, (_, n) => ({
        n,
        text: `line\nbreak ${'x'.repeat(n * 50)}`,
      }));
      await Promise.all(events.map((event) => store.appendTranscript(ID, event)));
      await store.flush(ID);
      expect(linesOf(await read(ID, 'transcript.jsonl'))).toEqual(events);
    });

    test('an event is written as it was when it was appended', async () => {
      const { store, read } = await open();
      const event = { n: 1 };
      const first = store.appendTranscript(ID, event);
      event.n = 2;
      await Promise.all([first, store.appendTranscript(ID, event)]);
      await store.flush(ID);
      expect(linesOf(await read(ID, 'transcript.jsonl'))).toEqual([{ n: 1 }, { n: 2 }]);
    });

    test('a transcript goes on in another process', async () => {
      const { store, reopen, read } = await open();
      await store.appendTranscript(ID, { n: 1 });
      await store.flush(ID);
      const other = reopen();
      await other.appendTranscript(ID, { n: 2 });
      await other.close();
      expect(linesOf(await read(ID, 'transcript.jsonl'))).toEqual([{ n: 1 }, { n: 2 }]);
    });

    test.each(['', '..', 'a/b', '../other', 'a.b', 'x'.repeat(65), 'ü', 'a\0', 'a\n'])(
      'the id %j is refused by everything',
      async (id) => {
        const { store } = await open();
        await expect(store.load(id)).rejects.toThrow(PermanentError);
        await expect(store.saveContext(id, context())).rejects.toThrow(PermanentError);
        await expect(store.saveMeta(id, meta())).rejects.toThrow(PermanentError);
        await expect(store.saveFiles(id, Readable.from(['x']))).rejects.toThrow(PermanentError);
        await expect(store.appendTranscript(id, {})).rejects.toThrow(PermanentError);
        await expect(store.setAside(id, 'old')).rejects.toThrow(PermanentError);
      },
    );
  });
}

const ID = 'a1b2-session';

async function loaded(store: SessionStore): Promise<Session> {
  const session = await store.load(ID);
  if (!session) throw new Error('The session is not there');
  return session;
}

async function saveFiles(store: SessionStore, content: string): Promise<FilesPart> {
  return store.saveFiles(ID, Readable.from([Buffer.from(content)]));
}

async function filesOf(session: Session): Promise<string[]> {
  const opened = await Promise.all((await session.openFiles()).map((open) => open()));
  return Promise.all(opened.map(async (archive) => (await buffer(archive)).toString()));
}

function linesOf(transcript: Buffer | null): unknown[] {
  const lines = transcript?.toString().split('\n') ?? [];
  expect(lines.pop()).toBe('');
  return lines.map((line) => JSON.parse(line));
}

function context(): SessionContext {
  const messages: Message[] = [
    { role: 'user', content: '{"project":"group/app","iid":7}', noteId: 12 },
    {
      role: 'assistant',
      content: '',
      toolCalls: [
        { id: 'call-1', name: 'sandbox_exec', arguments: { command: 'ls', nested: { a: [1, null] } } },
      ],
      native: { author: 'anthropic', content: [{ type: 'thinking', signature: 'c2ln', z: 1, a: 2 }] },
    },
    { role: 'tool', toolCallId: 'call-1', name: 'sandbox_exec', content: '{"exit_code":0}', isError: false },
    { role: 'assistant', content: 'Grüße 日本 😀 \u2028', toolCalls: [] },
  ];
  return { version: 1, messages };
}

function withCall(call: Record<string, unknown>): unknown {
  return { version: 1, messages: [{ role: 'assistant', content: '', toolCalls: [call] }] };
}

function meta(): SessionMeta {
  return {
    version: 1,
    sessionId: ID,
    projectId: 5,
    projectPath: 'group/app',
    mrIid: 7,
    visibility: 'private',
    sha: 'abc123',
    workflow: 'analyze-failures',
    model: 'claude',
    createdAt: '2026-01-01T00:00:00.000Z',
    updatedAt: '2026-01-02T00:00:00.000Z',
    ending: null,
    runs: 1,
    usage: { inputTokens: 1, cacheReadTokens: 2, cacheWriteTokens: 3, outputTokens: 4 },
    costMicroUsd: 5,
    leftOut: [
      { path: '/tmp/data/huge.log', bytes: 5_000 },
      { path: '/tmp/data/older.log', bytes: null },
    ],
  };
}
