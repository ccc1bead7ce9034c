// What a network and a service can do to a session in S3.
import { randomUUID } from 'node:crypto';
import { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import pino from 'pino';
import { describe, expect, inject, onTestFinished, test } from 'vitest';
import { loadConfig } from '../../../src/config/config.ts';
import { PermanentError, RetryableError } from '../../../src/errors.ts';
import { openSessions } from '../../../src/service/sessions.ts';
import type { S3Options } from '../../../src/session/s3/s3-options.ts';
import { openS3Store } from '../../../src/session/s3-store.ts';
import {
  type SessionContext,
  SessionCorruptError,
  SessionTakenError,
} from '../../../src/session/session-store.ts';
import { redactor } from '../../services/redactor.ts';
import { S3_BUCKET, S3_KEYS, s3Options } from '../../services/s3.ts';
import { type Fault, type S3Proxy, type S3ProxyOptions, startS3Proxy } from '../../services/s3-proxy.ts';

const MIB = 1024 * 1024;

describe('a service that answers 500', () => {
  test('once is asked again', async () => {
    const { store, proxy } = await arrange({ attempts: 2 });
    proxy.fault = failing(1, { kind: 'status', status: 500 });
    await store.saveContext('s', context());
    expect(await store.load('s')).toMatchObject({ context: context() });
  });

  test('always is an error that may pass and names the object', async () => {
    const { store, proxy } = await arrange();
    proxy.fault = () => ({ kind: 'status', status: 500 });
    const operations = [
      () => store.saveContext('s', context()),
      () => store.load('s'),
      () => store.saveFiles('s', bytes(10)),
      () => store.setAside('s', 'bad'),
    ];
    for (const operation of operations) {
      const failure = operation();
      await expect(failure).rejects.toThrow(RetryableError);
      await expect(failure).rejects.toThrow(/s3:\/\/.*\/s.*HTTP 500/);
    }
  });
});

describe('a service that hangs', () => {
  test('is an error that says so, within the time of one operation', async () => {
    const { store, proxy } = await arrange({ timeoutMs: 400 });
    const part = await store.saveFiles('s', bytes(20 * MIB));
    await store.saveContext('s', { ...context(), files: [part] });
    const [open] = (await (await store.load('s'))?.openFiles()) ?? [];
    proxy.fault = () => ({ kind: 'hang' });
    const startedAt = performance.now();
    const outcomes = await Promise.allSettled([
      store.saveContext('s', context()),
      store.load('s'),
      store.saveFiles('s', bytes(20 * MIB)),
      open?.(),
      store.check(),
      Array.fromAsync(store.catalog.list()),
    ]);
    expect(performance.now() - startedAt).toBeLessThan(5_000);
    for (const outcome of outcomes)
      expect(outcome).toMatchObject({ reason: { name: 'RetryableError', message: /hangs/ } });
  });

  test('in the middle of an answer is one too', async () => {
    const { store, proxy } = await arrange({ timeoutMs: 400 });
    const part = await store.saveFiles('s', bytes(2 * MIB));
    await store.saveContext('s', { ...context(), files: [part] });
    const [open] = (await (await store.load('s'))?.openFiles()) ?? [];
    proxy.fault = () => ({ kind: 'stall-answer', afterBytes: MIB });
    await expect(open?.()).rejects.toThrow(/nothing moved for 400 ms/);
  });
});

describe('an answer', () => {
  test('that is cut off once is asked for again', async () => {
    const { store, proxy } = await arrange();
    const part = await store.saveFiles('s', bytes(MIB));
    await store.saveContext('s', { ...context(), files: [part] });
    proxy.fault = failing(1, { kind: 'cut-answer', afterBytes: 10 });
    const session = await store.load('s');
    proxy.fault = failing(1, { kind: 'cut-answer', afterBytes: 1_000 });
    const [open] = (await session?.openFiles()) ?? [];
    expect(open && (await buffer(await open())).length).toBe(MIB);
  });

  test('that is cut off each time is an error that may pass', async () => {
    const { store, proxy } = await arrange();
    await store.saveContext('s', context());
    proxy.fault = () => ({ kind: 'cut-answer', afterBytes: 10 });
    await expect(store.load('s')).rejects.toThrow(RetryableError);
  });

  test.each<[string, (body: Buffer) => Buffer, RegExp]>([
    ['shorter', (body) => body.subarray(0, -1), /cut off|altered|not JSON/],
    ['altered', (body) => Buffer.from(body.toString().replace('why', 'who')), /context\.json.*altered/],
  ])('that is %s than what was saved is a corrupt session', async (_what, change, words) => {
    const { store, proxy } = await arrange();
    await store.saveContext('s', context());
    proxy.fault = ({ key }) => (key.endsWith('context.json') ? { kind: 'alter', change } : null);
    const failure = store.load('s');
    await expect(failure).rejects.toThrow(SessionCorruptError);
    await expect(failure).rejects.toThrow(words);
  });

  test('with one other byte in an archive is a corrupt session that names it', async () => {
    const { store, proxy } = await arrange();
    const part = await store.saveFiles('s', bytes(MIB));
    await store.saveContext('s', { ...context(), files: [part] });
    const [open] = (await (await store.load('s'))?.openFiles()) ?? [];
    proxy.fault = () => ({
      kind: 'alter',
      change: (body) => Buffer.concat([body.subarray(1), Buffer.of(9)]),
    });
    await expect(open?.()).rejects.toThrow(SessionCorruptError);
    await expect(open?.()).rejects.toThrow(part.name);
  });
});

describe('an upload in parts', () => {
  test('whose connection is reset once comes to its end', async () => {
    const { store, proxy } = await arrange({ attempts: 3 });
    let resets = 0;
    proxy.fault = ({ query }) => {
      if (query.get('partNumber') !== '2' || resets > 0) return null;
      resets += 1;
      return { kind: 'reset', afterBytes: MIB };
    };
    const part = await store.saveFiles('s', bytes(20 * MIB));
    await store.saveContext('s', { ...context(), files: [part] });
    expect(resets).toBe(1);
    const [open] = (await (await store.load('s'))?.openFiles()) ?? [];
    expect(open && (await buffer(await open())).length).toBe(20 * MIB);
  });

  test('whose connection is reset each time leaves nothing behind', async () => {
    const { store, proxy } = await arrange();
    proxy.fault = ({ query }) => (query.has('partNumber') ? { kind: 'reset', afterBytes: MIB } : null);
    await expect(store.saveFiles('s', bytes(20 * MIB))).rejects.toThrow(RetryableError);
    expect(await store.listFiles('s')).toEqual([]);
    expect(proxy.seen.some(({ method, query }) => method === 'DELETE' && query.has('uploadId'))).toBe(true);
  });
});

describe('with conditional writes', () => {
  test('a save whose answer was lost is not taken for one of somebody else', async () => {
    const { store, proxy } = await arrange({ attempts: 3 }, { conditions: true });
    await store.saveContext('s', stamped('a', null));
    let lost = 0;
    proxy.fault = ({ method }) => {
      if (method !== 'PUT' || lost > 0) return null;
      lost += 1;
      return { kind: 'lose-answer' };
    };
    await store.saveContext('s', stamped('b', 'a'));
    expect(lost).toBe(1);
    await store.saveContext('s', stamped('c', 'b'));
  });

  test('two who write at the same moment: one is refused', async () => {
    const { store, proxy, options } = await arrange({}, { conditions: true });
    await store.saveContext('s', stamped('a', null));
    writeWhenBothHaveLooked(proxy);
    const outcomes = await Promise.allSettled([
      store.saveContext('s', stamped('b', 'a')),
      openS3Store(options).saveContext('s', stamped('c', 'a')),
    ]);
    const refused = outcomes.filter((outcome) => outcome.status === 'rejected');
    expect(refused).toMatchObject([{ reason: expect.any(SessionTakenError) }]);
  });

  test('two savings of one writer at the same moment: the later one is kept, whichever comes first', async () => {
    const { store, proxy, options } = await arrange({}, { conditions: true });
    await store.saveContext('s', stamped('w.1', null));
    writeWhenBothHaveLooked(proxy);
    await Promise.allSettled([
      store.saveContext('s', stamped('w.2', null)),
      openS3Store(options).saveContext('s', stamped('w.3', null)),
    ]);
    // The server answers a moment before what it has taken can be read.
    const idOf = () => store.load('s').then((session) => session?.context.stamp?.id, String);
    await expect.poll(idOf).toBe('w.3');
  });

  test('are left out for a service that does not know them', async () => {
    const { store, proxy } = await arrange();
    proxy.fault = ({ headers }) =>
      headers['if-none-match'] || headers['if-match'] ? { kind: 'status', status: 501 } : null;
    await store.saveContext('s', stamped('a', null));
    await store.saveContext('s', stamped('b', 'a'));
    await expect(store.saveContext('s', stamped('late', 'a'))).rejects.toThrow(SessionTakenError);
  });
});

test('a transcript that can not be written is kept, and written when it can', async () => {
  const { store, proxy, options } = await arrange();
  proxy.fault = () => ({ kind: 'status', status: 500 });
  await store.appendTranscript('s', { n: 1 });
  await expect(store.flush('s')).rejects.toThrow(RetryableError);
  proxy.fault = () => null;
  await store.appendTranscript('s', { n: 2 });
  await store.close();
  const { catalog } = openS3Store(options);
  const [object] = await Array.fromAsync(catalog.objects('s'));
  expect((await buffer(await catalog.open('s', object?.name ?? ''))).toString()).toBe('{"n":1}\n{"n":2}\n');
});

test.each<[S3Options['encryption'], Record<string, string>]>([
  [{ kind: 'AES256' }, { 'x-amz-server-side-encryption': 'AES256' }],
  [
    { kind: 'aws:kms', keyId: 'alias/own' },
    {
      'x-amz-server-side-encryption': 'aws:kms',
      'x-amz-server-side-encryption-aws-kms-key-id': 'alias/own',
    },
  ],
])('encryption %j is asked for with everything that is written', async (encryption, headers) => {
  const { store, proxy } = await arrange({ encryption });
  const small = await store.saveFiles('s', bytes(10));
  await store.saveFiles('s', bytes(20 * MIB));
  await store.saveContext('s', { ...context(), files: [await store.copyToSandbox('s', small)] });
  const writing = proxy.seen.filter(
    ({ method, query }) => (method === 'PUT' && !query.has('partNumber')) || query.has('uploads'),
  );
  expect(writing).toHaveLength(4);
  for (const { headers: sent } of writing) expect(sent).toMatchObject(headers);
});

test('more objects than fit on a page are all listed', async () => {
  const { store, proxy } = await arrange();
  const ids = ['one', 'three', 'two'];
  for (const id of ids) {
    await store.saveContext(id, context());
    await store.saveHistory(id, context().messages);
  }
  proxy.seen.length = 0;
  proxy.pageSize = 2;
  const found = await Array.fromAsync(store.catalog.list());
  expect(found.map(({ name }) => name)).toEqual(ids);
  expect(proxy.seen.filter(({ query }) => query.has('list-type')).length).toBeGreaterThan(2);
});

describe('at the start', () => {
  test.each<[string, Record<string, unknown>, RegExp]>([
    ['no such bucket', { bucket: 'nowhere' }, /no bucket nowhere; create it, or correct store\.bucket/],
    ['wrong credentials', {}, /Sessions can not be saved: .*(?:credentials|denied)/],
  ])('%s is told with its fix', async (what, changed, words) => {
    const keys = what === 'wrong credentials' ? { accessKeyId: 'X', secretAccessKey: 'Y' } : S3_KEYS;
    const failure = open({ ...changed }, keys);
    await expect(failure).rejects.toThrow(PermanentError);
    await expect(failure).rejects.toThrow(words);
  });

  test('a service that is away is waited for', async () => {
    const { store, spool } = await open({ endpoint: 'http://127.0.0.1:9', attempts: 1 });
    const checking = store.check();
    await expect(checking).rejects.toThrow(RetryableError);
    await expect(checking).rejects.toThrow('(ECONNREFUSED); start the service, or correct store.endpoint');
    expect(spool).not.toBeNull();
  });
});

async function open(changed: Record<string, unknown>, s3Credentials = S3_KEYS) {
  const { config } = loadConfig({ cwd: '/', env: {} });
  const store = {
    ...{ kind: 's3' as const, bucket: S3_BUCKET, prefix: `${randomUUID()}/`, endpoint: inject('s3Url') },
    ...{ forcePathStyle: true, timeoutMs: 2_000, attempts: 2, spoolDir: '/nowhere', retentionDays: 1 },
    ...changed,
  };
  return openSessions(
    { ...config, store },
    { secrets: { s3Credentials, environment: new Map() }, redactor, log: pino({ level: 'silent' }) },
  );
}

async function arrange(changed: Partial<S3Options> = {}, wishes: S3ProxyOptions = {}) {
  const proxy = await startS3Proxy(wishes);
  const options = s3Options(proxy.url, { attempts: 1, ...changed });
  const store = openS3Store(options);
  onTestFinished(() => store.close().catch(() => undefined));
  return { store, proxy, options };
}

function failing(times: number, fault: Fault): () => Fault | null {
  let left = times;
  return () => {
    left -= 1;
    return left >= 0 ? fault : null;
  };
}

function context(): SessionContext {
  return { version: 1, messages: [{ role: 'user', content: 'why?' }] };
}

function stamped(id: string, after: string | null): SessionContext {
  return { ...context(), stamp: { id, after } };
}

function bytes(size: number): Readable {
  const chunk = Buffer.alloc(64 * 1024, 'x');
  return Readable.from(
    (function* () {
      for (let left = size; left > 0; left -= chunk.length) yield chunk.subarray(0, left);
    })(),
    { objectMode: false },
  );
}

function writeWhenBothHaveLooked(proxy: S3Proxy): void {
  const looked = Promise.withResolvers<void>();
  let looks = 0;
  proxy.before = async ({ method }) => {
    looks += method === 'HEAD' ? 1 : 0;
    if (looks === 2) looked.resolve();
    if (method === 'PUT') await looked.promise;
  };
}
