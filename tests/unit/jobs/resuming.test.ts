// What a run makes of a session that is not as it was left.
import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pino from 'pino';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import type { AgentEvent } from '../../../src/agent/events.ts';
import type { Message } from '../../../src/agent/messages.ts';
import { ModelError } from '../../../src/agent/model.ts';
import { CONTINUATION_PROMPT } from '../../../src/agent/prompts.ts';
import type { Toolbox } from '../../../src/agent/toolbox.ts';
import { RetryableError } from '../../../src/errors.ts';
import { createCanaryGuard } from '../../../src/jobs/canary.ts';
import { createEvidenceCheck } from '../../../src/jobs/check-evidence.ts';
import {
  type Investigation,
  type InvestigationDependencies,
  investigate,
} from '../../../src/jobs/investigate.ts';
import { FILES_LOST, SESSION_LOST } from '../../../src/jobs/notices.ts';
import { createSpool, type Spool } from '../../../src/jobs/spool.ts';
import { NotYet } from '../../../src/queue/queue.ts';
import { RedactionError } from '../../../src/redact/redactor.ts';
import type { Sandbox, SandboxProvider } from '../../../src/sandbox/sandbox.ts';
import { createVirtualSandboxes } from '../../../src/sandbox/virtual/provider.ts';
import { openFolderStore } from '../../../src/session/folder-store.ts';
import type { SessionStore } from '../../../src/session/session-store.ts';
import { newLedger } from '../../services/ledger.ts';
import { redactor } from '../../services/redactor.ts';
import { type ScriptedTurn, scriptedModel, scriptedTools } from '../agent/scripted.ts';
import { assistant, result, user } from '../models/requests.ts';

const ID = 'a1b2';
const EVENT = '{"project":"shop/checkout","iid":7,"sha":"abc","session_id":"a1b2"}';
const LOST_NOTE = 'The earlier conversation is no longer available';
const QUESTION = { noteId: 5, text: 'Is e2e the same?' };
const NOT_KEPT = [user(EVENT), assistant('', 'a'), result('a', '{"saved_to":"/tmp/data/unit.log"}')];

let dir: string;
let logged: Record<string, unknown>[];
/** Runs whose session is still being saved. */
const settling: Promise<string>[] = [];
beforeEach(async () => {
  dir = await mkdtemp(join(tmpdir(), 'hummingbird-resuming-'));
  logged = [];
});
afterEach(async () => {
  await Promise.allSettled(settling.splice(0));
  await rm(dir, { recursive: true, maxRetries: 10 });
});

describe('a conversation that can not be used', () => {
  test.each([
    ['is cut off', '{"version":1,"messages":[{"role":"us'],
    ['is no JSON', 'hello'],
    ['has other types', '{"version":1,"messages":[{"role":"user","content":{}}]}'],
    ['is empty', '{"version":1,"messages":[]}'],
    ['is of a newer version', '{"version":2}'],
  ])('since it %s is set aside; analysis and answer start afresh and say so', async (_what, content) => {
    for (const question of [null, QUESTION]) {
      await save(content);
      const { note, requests } = await run({ question, resumes: question !== null });
      expect(note).toContain(LOST_NOTE);
      const last = requests[0]?.messages.at(-1) as Message;
      expect(last.content).toBe(`${question?.text ?? EVENT}\n\n${SESSION_LOST}`);
      expect(requests[0]?.system).not.toContain(CONTINUATION_PROMPT);
    }
    const aside = (await readdir(dir)).filter((name) => name.endsWith('.bad'));
    expect(aside).toHaveLength(2);
    for (const name of aside) expect(await readFile(join(dir, name, 'context.json'), 'utf8')).toBe(content);
    expect(logged.map(({ msg }) => msg)).toContain('session can not be used, set aside and started afresh');
  });

  test('is told of also when the run that found it was broken off', async () => {
    await save('{');
    await run({ question: QUESTION, resumes: true }, [
      { calls: [{ name: 'look' }] },
      { throws: new Error('crash') },
    ]);

    const { note, requests } = await run({ question: QUESTION, resumes: true });

    expect(note).toContain(LOST_NOTE);
    expect(requests[0]?.messages).toHaveLength(4);
    expect(requests[0]?.system).not.toContain(CONTINUATION_PROMPT);
  });

  test('is not told of in later answers', async () => {
    await save('{');
    await run({ question: QUESTION, resumes: true });

    const { note, requests } = await run({ question: { noteId: 6, text: 'Sure?' }, resumes: true });

    expect(note).not.toContain(LOST_NOTE);
    expect(requests[0]?.system).toContain(CONTINUATION_PROMPT);
  });
});

test('a run that has lost its lock writes nothing over what the next one has saved', async () => {
  const lost = new AbortController();
  const theirs = [user(EVENT), assistant('It is the lock file.')];
  const { toolbox } = scriptedTools(async () => {
    await save(theirs);
    lost.abort(new NotYet('the lock was lost', 1));
    return { ok: true };
  });
  const failure = run({}, [{ calls: [{ name: 'look' }] }], { signal: lost.signal, toolbox });
  await expect(failure).rejects.toThrow('the lock was lost');
  expect(JSON.parse(await readFile(join(dir, ID, 'context.json'), 'utf8')).messages).toEqual(theirs);
});

describe('a session that can not be saved at the end', () => {
  test('is posted all the same, and the note says what a reply may find', async () => {
    const folder = openFolderStore({ dir });
    const store: SessionStore = { ...folder, saveFiles: () => Promise.reject(new RetryableError('away')) };
    const { note, ending } = await run({}, undefined, { store });
    expect(ending).toBe('answered');
    expect(note).toMatch(/could not be saved: a reply to this note may start afresh[\s\S]*Done\./);
  });

  test('is kept on this machine and saved before anybody goes on with it', async () => {
    const from = openFolderStore({ dir: join(dir, 'unsaved') });
    const to = openFolderStore({ dir });
    const spool = createSpool({ from, to, log: pino({ level: 'silent' }) });
    const store: SessionStore = { ...to, saveFiles: () => Promise.reject(new RetryableError('away')) };
    const { note } = await run({}, undefined, { store, spool });
    expect(note).not.toContain('could not be saved');
    expect(await saved()).toMatchObject([user(EVENT)]);
    expect((await from.load(ID))?.context.messages).toHaveLength(2);

    const { requests } = await run({ question: QUESTION, resumes: true }, undefined, { spool });
    expect(requests[0]?.messages).toHaveLength(3);
    expect(await savedMeta()).toMatchObject({ runs: 2 });
    expect(await from.load(ID)).toBeNull();
  });

  test('is of no use once another run has gone on with it', async () => {
    const from = openFolderStore({ dir: join(dir, 'unsaved') });
    const to = openFolderStore({ dir });
    const spool = createSpool({ from, to, log: pino({ level: 'silent' }) });
    const store: SessionStore = { ...to, saveFiles: () => Promise.reject(new RetryableError('away')) };
    await run({}, undefined, { store, spool });
    await run({ question: QUESTION, resumes: true });
    expect(await spool.deliverAll()).toBe(0);
    expect((await to.load(ID))?.context.messages.at(-1)).toMatchObject({
      content: 'Done.',
      role: 'assistant',
    });
    expect((await readdir(join(dir, 'unsaved')))[0]).toMatch(/\.bad$/);
  });
});

describe('a session that is slow to be saved', () => {
  const HANGING = ['saveContext', 'saveFiles', 'saveMeta', 'appendTranscript'] as const;

  test.each(HANGING)('in %s does not keep the answer from being posted in time', async (name) => {
    const { store, release } = storeThatHangs(name);
    const startedAt = performance.now();
    const { note, settled, ending } = await run({ workflow: inSeconds(2) }, undefined, { store });
    expect(performance.now() - startedAt).toBeLessThan(2_000);
    expect(note).toMatch(/^Done\./);
    expect(ending).toBe('answered');

    release();
    expect(await settled).toBe(note);
    expect((await saved()).at(-1)).toMatchObject({ content: 'Done.', published: note });
    expect(await savedMeta()).toMatchObject({ runs: 1 });
  });

  test('and can not be saved in the end says so then', async () => {
    const { store, release } = storeThatHangs('saveMeta', new RetryableError('away'));
    const { note, settled } = await run({ workflow: inSeconds(2) }, undefined, { store });
    expect(note).not.toContain('could not be saved');
    release();
    expect(await settled).toMatch(/could not be saved: a reply to this note may start afresh[\s\S]*Done\./);
  });

  test('in its last events is let go of all the same', async () => {
    const store = { ...openFolderStore({ dir }), flush: () => new Promise<never>(() => undefined) };
    const { settled } = await run({}, undefined, { store });
    expect(await settled).toMatch(/^Done\./);
    expect(logged.find(({ msg }) => msg === 'the transcript was not saved to its end')).toMatchObject({
      err: { message: expect.stringContaining('no answer within') },
    });
  }, 10_000);

  test('while its quotes are checked for ever is posted with quotes that are not checked', async () => {
    const forever = {
      createCanaryGuard,
      createEvidenceCheck: () => ({ hook: {}, finish: () => new Promise<never>(() => undefined) }),
    };
    const startedAt = performance.now();
    const { note } = await run({ workflow: inSeconds(2) }, undefined, { guards: forever });
    expect(performance.now() - startedAt).toBeLessThan(2_000);
    expect(note).toContain('quotes not checked');
  });

  test('before its first turn leaves the model the rest of the time only', async () => {
    const folder = openFolderStore({ dir });
    const slow = async (id: string) => {
      await new Promise((wait) => setTimeout(wait, 3_000));
      return folder.load(id);
    };
    const { toolbox } = scriptedTools(() => new Promise(() => undefined));
    const startedAt = performance.now();
    const turns = [{ calls: [{ name: 'look' }] }, { text: 'So far.' }];
    const { note, ending, reason } = await run({ workflow: inSeconds(6) }, turns, {
      store: { ...folder, load: slow },
      toolbox,
    });
    expect(performance.now() - startedAt).toBeLessThan(6_000);
    expect(note).toContain('So far.');
    expect([ending, reason]).toEqual(['time', 'the 0.1 minutes it may take were over']);
  });
});

describe('a conversation that is damaged', () => {
  test('is repaired, which is logged, and saved like that', async () => {
    await save([user(EVENT), assistant('Let me see.', 'a', 'b'), result('b'), result('x')]);

    const { note, requests } = await run({});

    expect(note).toMatch(/^Done\./);
    const interrupted = expect.stringContaining('interrupted');
    const repaired = [
      user(EVENT),
      assistant('Let me see.', 'a', 'b'),
      result('b'),
      { ...result('a', interrupted), isError: true },
    ];
    expect(requests[0]?.messages).toEqual(repaired);
    expect((await saved()).slice(0, 4)).toEqual(repaired);
    expect(logged.find(({ msg }) => msg === 'conversation repaired')).toMatchObject({
      session: ID,
      repairs: [
        'message 3 answers x, which nobody waits for: removed',
        'sandbox_exec (a) has no result: answered as interrupted',
      ],
    });
  });

  test('and has lost its beginning gets it back', async () => {
    await save([assistant('The tests fail.'), user('And?')]);
    const { requests } = await run({ question: QUESTION, resumes: true });
    expect(requests[0]?.messages.slice(0, 2)).toEqual([user(EVENT), assistant('The tests fail.')]);
  });

  test('in its meta only is whole, and the next meta is good again', async () => {
    await save([user(EVENT), assistant('The tests fail.')]);
    await writeFile(join(dir, ID, 'meta.json'), '{"vers');

    const { note, requests } = await run({ question: QUESTION, resumes: true });

    expect(note).not.toContain(LOST_NOTE);
    expect(requests[0]?.messages).toHaveLength(3);
    expect(logged.map(({ msg }) => msg)).toContain('meta of the session can not be used, begun anew');
    expect(JSON.parse(await readFile(join(dir, ID, 'meta.json'), 'utf8'))).toMatchObject({ runs: 1 });
  });
});

test('a session of a run that broke off is not opened for more people than it began with', async () => {
  const folder = openFolderStore({ dir });
  let looks = 0;
  const unlessGone = <T>(work: () => Promise<T>): Promise<T> =>
    looks < 2 ? work() : Promise.reject(new RetryableError('away'));
  const store: SessionStore = {
    ...folder,
    saveContext: (...args) => unlessGone(() => folder.saveContext(...args)),
    saveMeta: (...args) => unlessGone(() => folder.saveMeta(...args)),
  };
  const { toolbox } = scriptedTools(async () => {
    looks += 1;
    return { looks };
  });
  const look = { calls: [{ name: 'look' }] };
  await run({}, [look, look, { text: 'Done.' }], { store, toolbox });
  expect((await saved()).map(({ role }) => role)).toEqual(['user', 'assistant', 'tool']);

  const { requests } = await run({ visibility: 'public' });

  expect(requests[0]?.messages).toHaveLength(1);
});

test.each([
  ['private', true],
  ['internal', false],
  ['public', false],
] as const)(
  'a session of which nobody knows whom it is for goes on in a %s project: %s',
  async (visibility, goesOn) => {
    await save([user(EVENT), assistant('It is the rounding.')]);
    await writeFile(join(dir, ID, 'meta.json'), '{"vers');
    const { requests } = await run({ visibility, question: { noteId: 4, text: 'Sure?' } });
    expect(JSON.stringify(requests[0]?.messages).includes('It is the rounding.')).toBe(goesOn);
  },
);

test('an analysis that failed before somebody else got an answer is asked for again', async () => {
  await save([user(EVENT), { ...user('What is up?'), noteId: 4 }, assistant('Nothing yet.')]);
  const { note, requests } = await run({});
  expect(note).toMatch(/^Done\./);
  expect(requests[0]?.messages.at(-1)).toMatchObject(user(EVENT));
});

describe('files that are gone', () => {
  test('are told of with the question, once, and the words are saved', async () => {
    await save([...NOT_KEPT, assistant('The tests fail.')]);

    const { requests } = await run({ question: QUESTION, resumes: true }, [{ throws: new Error('crash') }]);
    await rm(join(dir, ID, 'sandbox.tar.gz'));
    const again = await run({ question: QUESTION, resumes: true });

    const asked = { role: 'user', content: `${QUESTION.text}\n\n${FILES_LOST}`, noteId: 5 };
    expect(requests[0]?.messages.at(-1)).toEqual(asked);
    expect(again.requests[0]?.messages).toEqual(requests[0]?.messages);
    expect((await saved()).at(-2)).toEqual(asked);
  });

  test('are told of in words of their own when a run is taken up in its middle, each time', async () => {
    await save(NOT_KEPT);
    const fetch = { calls: [{ name: 'look', arguments: { path: '/tmp/data/unit.log' } }] };
    const { requests } = await run({}, [fetch, { throws: new Error('crash') }]);
    await rm(join(dir, ID, 'sandbox.tar.gz'));

    const again = await run({});

    expect(requests[0]?.messages.slice(3)).toEqual([user(FILES_LOST)]);
    expect(again.requests[0]?.messages.slice(6)).toEqual([user(FILES_LOST)]);
    expect(again.note).toMatch(/^Done\./);
  });

  test('are told of when their archive is broken', async () => {
    await save([...NOT_KEPT, assistant('The tests fail.')]);
    await writeFile(join(dir, ID, 'sandbox.tar.gz'), 'no archive');

    const { requests } = await run({ question: QUESTION, resumes: true });

    expect(requests[0]?.messages.at(-1)).toMatchObject({ content: expect.stringContaining(FILES_LOST) });
    expect(logged.map(({ msg }) => msg)).toContain('files of the session could not be restored');
  });

  test('are told of by name when only the largest had no room in the session, and only once', async () => {
    const { sandboxes } = await runWithFiles({ '/tmp/_out/0.txt': 20, '/tmp/data/huge.log': 5_000 });

    const { requests } = await run({ question: QUESTION, resumes: true }, undefined, {
      sandboxes,
      keepBytes: 1_000,
    });
    const again = { noteId: 6, text: 'Sure?' };
    const later = await run({ question: again, resumes: true }, undefined, { sandboxes, keepBytes: 1_000 });

    expect(requests[0]?.messages.at(-1)).toHaveProperty(
      'content',
      `${QUESTION.text}\n\n[These files were too large to be kept with the session and are gone: /tmp/data/huge.log. Fetch again what you need.]`,
    );
    expect(later.requests[0]?.messages.at(-1)).toHaveProperty('content', 'Sure?');
  });

  test('are named in the meta with their sizes, also by later runs, until all have room again', async () => {
    const { sandboxes } = await runWithFiles({ '/tmp/_out/0.txt': 20, '/tmp/data/huge.log': 5_000 });
    const first = await savedMeta();

    await run({ question: QUESTION, resumes: true }, undefined, { sandboxes, keepBytes: 1_000 });
    const second = await savedMeta();
    const fetching: SandboxProvider = {
      ...sandboxes,
      create: async (purpose) => {
        const sandbox = await sandboxes.create(purpose);
        return {
          ...sandbox,
          async restore(archive) {
            const leftOut = await sandbox.restore(archive);
            await sandbox.writeFile('/tmp/data/huge.log', 'a smaller one');
            return leftOut;
          },
        };
      },
    };
    const again = { noteId: 6, text: 'Sure?' };
    await run({ question: again, resumes: true }, undefined, { sandboxes: fetching, keepBytes: 1_000 });

    const leftOut = [{ path: '/tmp/data/huge.log', bytes: 5_000 }];
    expect(first).toMatchObject({ leftOut, runs: 1 });
    expect(second).toMatchObject({ leftOut, runs: 2 });
    expect(await savedMeta()).toMatchObject({ leftOut: [], runs: 3 });
  });

  test('are named as soon as the others are saved, by a run that does not count before it has ended', async () => {
    const lost = new AbortController();
    let calls = 0;
    const { toolbox } = scriptedTools(async () => {
      calls += 1;
      if (calls === 2) lost.abort(new NotYet('the lock was lost', 1));
      return { ok: true };
    });
    const look = { calls: [{ name: 'look' }] };
    const failure = runWithFiles({ '/tmp/data/huge.log': 5_000 }, [look, look], {
      toolbox,
      signal: lost.signal,
    });
    await expect(failure).rejects.toThrow('the lock was lost');

    expect(await savedMeta()).toMatchObject({
      sessionId: ID,
      leftOut: [{ path: '/tmp/data/huge.log', bytes: 5_000 }],
      runs: 0,
      ending: null,
    });

    await run({});
    expect(await savedMeta()).toMatchObject({ runs: 1, ending: 'answered' });
  });

  test('are not gone when the run is broken off: they are saved with each turn', async () => {
    const { sandboxes, opened } = await runWithFiles({ '/tmp/data/unit.log': 20 }, [
      { calls: [{ name: 'look' }] },
      { throws: new Error('crash') },
    ]);
    await run({}, undefined, { sandboxes });
    expect((await opened.at(-1)?.readFile('/tmp/data/unit.log'))?.length).toBe(20);
  });

  test('are no words worth when there were none', async () => {
    await save([user(EVENT), assistant('', 'a'), result('a'), assistant('The tests fail.')]);
    const { requests } = await run({ question: QUESTION, resumes: true });
    expect(requests[0]?.messages.at(-1)).toMatchObject({ content: QUESTION.text });
  });

  test('are not gone when the sandbox is only away for now', async () => {
    await save([...NOT_KEPT, assistant('The tests fail.')]);
    await writeFile(join(dir, ID, 'sandbox.tar.gz'), 'an archive');
    const virtual = createVirtualSandboxes({ maxBytes: 1_000_000 });
    const sandboxes: SandboxProvider = {
      ...virtual,
      create: async () => ({
        ...(await virtual.create()),
        restore: () => Promise.reject(new RetryableError('no connection')),
      }),
    };

    const failure = run({ question: QUESTION, resumes: true }, undefined, { sandboxes });

    await expect(failure).rejects.toThrow('no connection');
    expect(await saved()).toHaveLength(4);
    expect(await readFile(join(dir, ID, 'sandbox.tar.gz'), 'utf8')).toBe('an archive');
  });
});

test('why a model could not be used is told without secrets', async () => {
  const throws = new ModelError('stop', `refused: gl${'pat'}-aB3xK9mQ2vR7tL5wN8pD`);
  const { ending, reason } = await run({}, [{ throws }]);
  expect([ending, reason]).toEqual(['model-error', expect.stringContaining('[redacted: gitlab-token]')]);
  expect(reason).not.toContain('aB3xK9');
});

test('watchers that all fail change neither what is asked nor what is saved and said', async () => {
  const turns = [{ text: 'Looking.', calls: [{ name: 'look' }] }, { text: 'It is the lock file.' }];
  const seen: string[] = [];
  const watched = await run({}, turns, { onEvent: ({ type }) => void seen.push(type) });
  const savedWatched = await saved();
  await rm(join(dir, ID), { recursive: true });
  const fail = () => Promise.reject(new Error('nobody watches'));
  const store: SessionStore = { ...openFolderStore({ dir }), appendTranscript: fail, flush: fail };
  const onEvent = (): void => {
    throw new Error('nobody watches');
  };
  const unwatched = await run({}, turns, { store, onEvent });

  expect(seen).toEqual(expect.arrayContaining(['turn-started', 'tool-finished', 'checkpoint', 'ended']));
  expect({ ...unwatched, settled: null }).toEqual({ ...watched, settled: null });
  expect(await saved()).toEqual(savedWatched);
});

test('an event whose secrets can not be removed ends the run, and what is under way with it', async () => {
  let signal: AbortSignal | undefined;
  const { toolbox } = scriptedTools((_call, given) => {
    signal = given;
    return new Promise(() => undefined);
  });
  const onEvent = ({ type }: AgentEvent): void => {
    if (type === 'tool-started') throw new RedactionError(new Error('it broke'));
  };
  const failure = run({}, [{ calls: [{ name: 'look' }] }], { toolbox, onEvent });
  await expect(failure).rejects.toThrow('secrets could not be removed');
  expect(signal?.aborted).toBe(true);
});

const WORKFLOW = {
  name: 'analyze-failures',
  on: ['failed-pipeline'],
  prompt: 'Find out.',
  maxIterations: 5,
  contextLimit: 10_000,
  maxOutputTokens: 100,
  maxMinutes: 1,
  keep: [],
  compactAt: 0,
  gate: 'off' as const,
};

function inSeconds(seconds: number) {
  return { ...WORKFLOW, maxMinutes: seconds / 60 };
}

/** When the answer is there, until it is released. */
function storeThatHangs(
  name: 'saveContext' | 'saveFiles' | 'saveMeta' | 'appendTranscript',
  failure?: Error,
) {
  const folder = openFolderStore({ dir });
  const released = Promise.withResolvers<void>();
  const operation = folder[name] as (...args: unknown[]) => Promise<unknown>;
  const hang = async (...args: unknown[]): Promise<unknown> => {
    // Before that, what can not be saved ends the run.
    const text = JSON.stringify(args);
    if (name === 'saveContext' && !text.includes('Done.')) return operation(...args);
    if (name === 'saveMeta' && !text.includes('answered')) return operation(...args);
    await released.promise;
    if (failure) throw failure;
    return operation(...args);
  };
  return { store: { ...folder, [name]: hang }, release: () => released.resolve() };
}

async function run(
  about: Partial<Investigation>,
  turns: ScriptedTurn[] = [{ text: 'Done.' }],
  {
    sandboxes = createVirtualSandboxes({ maxBytes: 1_000_000 }),
    keepBytes = 1_000_000,
    toolbox = scriptedTools().toolbox,
    signal = new AbortController().signal,
    store = openFolderStore({ dir }),
    spool = null,
    onEvent = () => undefined,
    guards = { createCanaryGuard, createEvidenceCheck },
  }: Surroundings = {},
) {
  const { model, requests } = scriptedModel(turns);
  const findings = await investigate(
    {
      openLedger: newLedger,
      openModel: () => model,
      openSideModel: () => null,
      store,
      spool,
      redactor,
      sandboxes,
      keepBytes,
      createToolbox: () => toolbox,
      createFindOwnJobs: () => async () => new Map(),
      canaryKey: Buffer.from('key'),
      guards,
      log: pino({}, { write: (line: string) => void logged.push(JSON.parse(line)) }),
      now: Date.now,
    },
    {
      sessionId: ID,
      project: { id: 3, path: 'shop/checkout' },
      visibility: 'private',
      failures: [],
      mr: {
        projectId: 3,
        iid: 7,
        title: 'Round',
        state: 'opened',
        sha: 'abc',
        webUrl: 'http://gitlab.test',
        authorId: 1,
        createdAt: '2026-11-01T12:00:00Z',
        headPipelineId: null,
      },
      workflow: WORKFLOW,
      question: null,
      resumes: false,
      runId: 'run-1',
      ...about,
    },
    { signal, onEvent },
  );
  settling.push(findings.settled);
  return { ...findings, requests };
}

interface Surroundings {
  sandboxes?: SandboxProvider;
  keepBytes?: number;
  toolbox?: Toolbox;
  signal?: AbortSignal;
  store?: SessionStore;
  spool?: Spool | null;
  onEvent?: (event: AgentEvent) => void;
  guards?: InvestigationDependencies['guards'];
}

/** A run in whose sandbox these files come to be, and sandboxes that can be looked into. */
async function runWithFiles(
  sizes: Record<string, number>,
  turns?: ScriptedTurn[],
  options: { toolbox?: Toolbox; signal?: AbortSignal } = {},
) {
  const virtual = createVirtualSandboxes({ maxBytes: 1_000_000 });
  const opened: Sandbox[] = [];
  const sandboxes: SandboxProvider = {
    ...virtual,
    create: async () => {
      const sandbox = await virtual.create();
      if (opened.length === 0)
        for (const [path, size] of Object.entries(sizes)) await sandbox.writeFile(path, 'x'.repeat(size));
      opened.push(sandbox);
      return sandbox;
    },
  };
  await run({}, turns, { sandboxes, keepBytes: 1_000, ...options });
  return { sandboxes, opened };
}

async function save(content: string | Message[]): Promise<void> {
  await mkdir(join(dir, ID), { recursive: true });
  const text = typeof content === 'string' ? content : JSON.stringify({ version: 1, messages: content });
  await writeFile(join(dir, ID, 'context.json'), text);
}

async function savedMeta(): Promise<unknown> {
  return JSON.parse(await readFile(join(dir, ID, 'meta.json'), 'utf8'));
}

async function saved(): Promise<Message[]> {
  return JSON.parse(await readFile(join(dir, ID, 'context.json'), 'utf8')).messages;
}
