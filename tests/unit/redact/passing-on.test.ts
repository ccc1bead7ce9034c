// Where the redactor stands: turns of models, sessions, archives, logs, errors; and what happens when it fails.
import { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { inspect } from 'node:util';
import { createGzip, gunzipSync } from 'node:zlib';
import pino from 'pino';
import { extract, pack } from 'tar-stream';
import { describe, expect, test } from 'vitest';
import type { AssistantMessage } from '../../../src/agent/messages.ts';
import type { Delta } from '../../../src/agent/model.ts';
import { PermanentError } from '../../../src/errors.ts';
import { createCanaryGuard } from '../../../src/jobs/canary.ts';
import { createEvidenceCheck } from '../../../src/jobs/check-evidence.ts';
import { investigate } from '../../../src/jobs/investigate.ts';
import { withRedaction } from '../../../src/models/with-redaction.ts';
import { redactLog } from '../../../src/ops/log.ts';
import { maskArchive } from '../../../src/redact/mask-archive.ts';
import { redactError } from '../../../src/redact/redact-error.ts';
import { redactMessage } from '../../../src/redact/redact-message.ts';
import { createRedactor, RedactionError, type Redactor } from '../../../src/redact/redactor.ts';
import { createVirtualSandboxes } from '../../../src/sandbox/virtual/provider.ts';
import type { SessionStore } from '../../../src/session/session-store.ts';
import { createToolbox } from '../../../src/tools/toolbox.ts';
import { newLedger } from '../../services/ledger.ts';
import { scriptedModel } from '../agent/scripted.ts';
import { requestOf, user } from '../models/requests.ts';

const OWN = 'own-token-of-the-service-1';
const TOKEN = `gl${'pat'}-aB3xK9mQ2vR7tL5wN8pD`;
const redactor = createRedactor({ secrets: [OWN] });

describe('a turn of a model', () => {
  const signature = Buffer.from(Array.from({ length: 600 }, (_, index) => (index * 97 + 13) % 256)).toString(
    'base64',
  );
  const turn = (text: string, thinking: string): AssistantMessage => ({
    role: 'assistant',
    content: text,
    toolCalls: [{ id: 'c1', name: 'look', arguments: { at: text } }],
    native: {
      author: 'anthropic',
      content: [
        { type: 'thinking', thinking, signature },
        { type: 'text', text },
      ],
    },
  });

  test('is the very same when there is nothing in it, its signature included', () => {
    const clean = turn('It is the rounding.', 'the token=abc123def456 is high entropy, but only thought');
    expect(redactMessage(clean, redactor)).toBe(clean);
  });

  test('loses its native form when words of it are changed', () => {
    expect(redactMessage(turn(`I saw ${TOKEN}`, 'hm'), redactor)).toEqual({
      role: 'assistant',
      content: 'I saw [redacted: gitlab-token]',
      toolCalls: [{ id: 'c1', name: 'look', arguments: { at: 'I saw [redacted: gitlab-token]' } }],
    });
  });

  test.each([OWN, TOKEN, Buffer.from(`x${OWN}`).toString('base64')])(
    'loses it when only its thoughts hold %s',
    (secret) => {
      const { native, ...said } = turn('It is the rounding.', `they use ${secret} there`);
      expect(redactMessage({ ...said, ...(native && { native }) }, redactor)).toEqual(said);
    },
  );

  test('is told bit by bit without its secrets, and what was given up is not told on', async () => {
    const { model } = scriptedModel([{ text: `It printed ${OWN}.` }]);
    const heard: Delta[] = [];
    const chatty = withRedaction(
      {
        name: model.name,
        async generate(request) {
          for (const text of ['half of ', OWN.slice(0, 5)]) request.onDelta?.({ kind: 'text', text });
          request.onEvent?.({ type: 'retry', model: 'm', attempt: 1, waitMs: 1, reason: 'busy' });
          for (const text of `It printed ${OWN}.`) request.onDelta?.({ kind: 'text', text });
          return model.generate(requestOf([user('why?')]));
        },
      },
      redactor,
    );
    const { message } = await chatty.generate({
      ...requestOf([user('why?')]),
      onDelta: (delta) => heard.push(delta),
    });
    expect(message.content).toBe('It printed [redacted: own-secret].');
    expect(heard.map(({ text }) => text).join('')).toBe('It printed [redacted: own-secret].');
  });
});

test('a result of a tool is judged by the names in it', () => {
  const content = JSON.stringify({
    env: [{ name: 'DB_PASSWORD', value: 'tr0ub4dor' }],
    sha: 'a'.repeat(40),
    password: 'hunter22',
  });
  const message = redactMessage(
    { role: 'tool', toolCallId: '1', name: 't', content, isError: false },
    redactor,
  );
  expect(JSON.parse(message.content)).toEqual({
    env: [{ name: 'DB_PASSWORD', value: '[redacted: named-secret]' }],
    sha: 'a'.repeat(40),
    password: '[redacted: named-secret]',
  });
});

test('files of an archive keep their sizes; stars stand for secrets', async () => {
  const archive = pack();
  archive.entry({ name: 'tmp/data/', type: 'directory' });
  archive.entry({ name: 'tmp/data/a.txt', mode: 0o640 }, `one\n${OWN}\ntwo ${TOKEN}\n`);
  archive.entry({ name: 'tmp/data/b.bin' }, Buffer.from([0, 255, 1, 254]));
  archive.finalize();
  const masked = await buffer(maskArchive(Readable.from(archive.pipe(createGzip())), redactor));

  const files: Record<string, string> = {};
  const entries = extract();
  entries.end(gunzipSync(masked));
  for await (const entry of entries)
    files[`${entry.header.name} ${entry.header.mode}`] = (await buffer(entry)).toString('latin1');
  expect(files).toEqual({
    'tmp/data/ 493': '',
    'tmp/data/a.txt 416': `one\n${'*'.repeat(OWN.length)}\ntwo ${'*'.repeat(TOKEN.length)}\n`,
    'tmp/data/b.bin 420': '\x00\xff\x01\xfe',
  });
});

test('what an archive says of its files has no secrets: links, owners, further headers', async () => {
  const archive = pack();
  archive.entry({ name: 'a', type: 'symlink', linkname: `/x/${OWN}`, uname: OWN, gname: `g ${TOKEN}` });
  archive.entry({ name: 'b', pax: { 'SCHILY.xattr.user.note': TOKEN, comment: `of ${OWN}` } }, 'text');
  archive.finalize();
  const masked = await buffer(maskArchive(Readable.from(archive.pipe(createGzip())), redactor));

  expect(gunzipSync(masked).toString('latin1')).not.toMatch(/own-token|glpat-/);
  const headers: unknown[] = [];
  const entries = extract();
  entries.end(gunzipSync(masked));
  for await (const entry of entries) {
    headers.push(entry.header);
    entry.resume();
  }
  expect(headers).toMatchObject([
    {
      name: 'a',
      linkname: '/x/[redacted: own-secret]',
      uname: '[redacted: own-secret]',
      gname: 'g [redacted: gitlab-token]',
    },
    {
      name: 'b',
      size: 4,
      pax: { 'SCHILY.xattr.user.note': '[redacted: gitlab-token]', comment: 'of [redacted: own-secret]' },
    },
  ]);
});

test('an archive that breaks off is not taken for whole', async () => {
  const broken = new Readable({
    read() {
      this.destroy(new Error('gone'));
    },
  });
  await expect(buffer(maskArchive(broken, redactor))).rejects.toThrow('gone');
});

describe('a log', () => {
  test('has no secrets in messages, fields, errors, causes and children', () => {
    const lines: string[] = [];
    const log = redactLog(
      pino({ level: 'debug' }, { write: (line: string) => void lines.push(line) }),
      redactor,
    );
    log.child({ job: OWN }).info({ url: `https://x:${OWN}@h`, password: 'hunter22' }, TOKEN);
    log.error({ err: new Error(`no ${OWN}`, { cause: new Error(TOKEN) }) }, 'failed');
    expect(lines).toHaveLength(2);
    expect(lines.join('')).not.toMatch(/own-token|glpat-|hunter22/);
    expect(JSON.parse(lines[0] ?? '')).toMatchObject({
      job: '[redacted: own-secret]',
      msg: '[redacted: gitlab-token]',
    });
  });

  test('withholds a line that can not be redacted, and says so', () => {
    const lines: string[] = [];
    const log = redactLog(pino({}, { write: (line: string) => void lines.push(line) }), failing());
    log.info({ secret: OWN }, 'hello');
    expect(JSON.parse(lines[0] ?? '')).toMatchObject({
      level: 'error',
      msg: 'a line of the log was withheld',
    });
    expect(lines.join('')).not.toContain(OWN);
  });
});

test('an error stays what it is, without secrets in its words', () => {
  const error = new PermanentError(`no ${OWN}`, { cause: new Error(`because ${TOKEN}`) });
  expect(redactError(error, redactor)).toBe(error);
  expect([error.message, String(error.stack), String(error.cause)].join()).not.toMatch(/own-token|glpat-/);
});

test('an error of several has no secrets in any of them', () => {
  const inner = new Error(`no ${OWN}`, { cause: new AggregateError([new Error(TOKEN)]) });
  const error = new AggregateError([inner, 'x'], `all ${TOKEN}`);
  expect(redactError(error, redactor)).toBe(error);
  expect(inspect(error, { depth: 9 })).not.toMatch(/own-token|glpat-/);
});

test.each(['text', 'value', 'stream'] as const)(
  'when the redactor fails (%s), the run ends at once and there is nothing to post',
  async (method) => {
    const saved: unknown[] = [];
    const keep = async (_: string, value: unknown): Promise<void> => void saved.push(value);
    const store: SessionStore = {
      load: async () => null,
      saveContext: keep,
      saveMeta: keep,
      saveFiles: async () => ({ name: 'files/1.tar.gz', sha256: '', bytes: 0 }),
      copyToSandbox: async (_, part) => part,
      listFiles: async () => [],
      removeFiles: async () => undefined,
      saveHistory: keep,
      setAside: async () => undefined,
      appendTranscript: keep,
      flush: async () => undefined,
      check: async () => ({}),
      close: async () => undefined,
    };
    const { model } = scriptedModel([{ calls: [{ name: 'farm_log' }] }, { text: 'Done.' }]);
    const read = async () => ({
      kind: 'text' as const,
      of: 'log' as const,
      body: Readable.from([Buffer.from(OWN)]),
    });
    const { z } = await import('zod');
    const source = {
      name: 'farm',
      notes: '',
      tools: [{ name: 'farm_log', description: '', schema: z.object({}) as never, read }],
    };
    const broken = failing(method);
    const running = investigate(
      {
        openLedger: newLedger,
        openModel: () => model,
        openSideModel: () => null,
        store,
        redactor: broken,
        sandboxes: createVirtualSandboxes({ maxBytes: 1_000_000 }),
        keepBytes: 1_000_000,
        createToolbox: (sandbox) => createToolbox({ sandbox, sources: [source], redactor: broken }),
        createFindOwnJobs: () => async () => new Map(),
        canaryKey: Buffer.from('key'),
        guards: { createCanaryGuard, createEvidenceCheck },
        log: pino({ level: 'silent' }),
        now: Date.now,
      },
      {
        sessionId: 's-1',
        visibility: 'private',
        failures: [],
        project: { id: 3, path: 'shop/checkout' },
        mr: { projectId: 3, iid: 7, sha: 'abc' } as never,
        workflow: {
          name: 'w',
          on: [],
          prompt: 'p',
          maxIterations: 5,
          contextLimit: 100_000,
          maxOutputTokens: 1_000,
          maxMinutes: 1,
          compactAt: 0,
          gate: 'off',
          keep: [],
        },
        question: null,
        resumes: false,
        runId: 'r-1',
      },
      { signal: new AbortController().signal, onEvent: () => undefined },
    );
    await expect(running).rejects.toThrow(/secrets could not be removed, so nothing was passed on: it broke/);
    await expect(running).rejects.toThrow(PermanentError);
    expect(JSON.stringify(saved)).not.toContain(OWN);
  },
);

/** A redactor in which one thing goes wrong. */
function failing(method: 'text' | 'value' | 'stream' = 'value'): Redactor {
  const fail = (): never => {
    throw new RedactionError(new Error('it broke'));
  };
  const breaking = (): ReturnType<Redactor['stream']> => {
    const stream = redactor.stream();
    stream._transform = (_chunk, _encoding, done) => done(new RedactionError(new Error('it broke')));
    return stream;
  };
  return { ...redactor, [method]: method === 'stream' ? breaking : fail };
}
