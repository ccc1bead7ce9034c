// A note is posted before its session is saved; what becomes of the saving does not take it back.
import { mkdtemp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pino from 'pino';
import { expect, test } from 'vitest';
import { RetryableError } from '../../../src/errors.ts';
import { createCanaryGuard } from '../../../src/jobs/canary.ts';
import { createEvidenceCheck } from '../../../src/jobs/check-evidence.ts';
import { type AgentDependencies, runAgent } from '../../../src/jobs/run-agent.ts';
import type { HeldJob } from '../../../src/jobs/session-lock.ts';
import { createVirtualSandboxes } from '../../../src/sandbox/virtual/provider.ts';
import { openFolderStore } from '../../../src/session/folder-store.ts';
import { newLedger } from '../../services/ledger.ts';
import { redactor } from '../../services/redactor.ts';
import { scriptedModel, scriptedTools } from '../agent/scripted.ts';

test('an answer that is posted stays, though it can not be told that its session was not saved', async () => {
  const posted = Promise.withResolvers<void>();
  const folder = openFolderStore({ dir: await mkdtemp(join(tmpdir(), 'hummingbird-run-agent-')) });
  const store: typeof folder = {
    ...folder,
    saveMeta: async (id, meta) => {
      if (meta.ending === null) return folder.saveMeta(id, meta);
      await posted.promise;
      throw new RetryableError('the disk is away');
    },
  };
  const { model } = scriptedModel([{ text: 'Done.' }]);
  const logged: Record<string, unknown>[] = [];
  const deps: AgentDependencies = {
    openLedger: newLedger,
    openModel: () => model,
    openSideModel: () => null,
    store,
    redactor,
    sandboxes: createVirtualSandboxes({ maxBytes: 1_000_000 }),
    keepBytes: 1_000_000,
    createToolbox: () => scriptedTools().toolbox,
    createFindOwnJobs: () => async () => new Map(),
    canaryKey: Buffer.from('key'),
    guards: { createCanaryGuard, createEvidenceCheck },
    log: pino({}, { write: (line: string) => void logged.push(JSON.parse(line)) }),
    now: Date.now,
    workflow: WORKFLOW,
    watch: () => undefined,
  };
  const notes: string[] = [];
  const published = await runAgent(deps, HELD, SUBJECT, async ({ note }) => {
    notes.push(note);
    posted.resolve();
    if (notes.length > 1) throw new RetryableError('GitLab is away');
    return 'the note';
  });
  expect(published).toBe('the note');
  expect(notes).toEqual([
    expect.stringMatching(/^Done\./),
    expect.stringMatching(/could not be saved[\s\S]*Done\./),
  ]);
  expect(logged.map(({ msg }) => msg)).toContain('the note does not say that its session was not saved');
});

const WORKFLOW = {
  name: 'analyze-failures',
  on: ['failed-pipeline'],
  prompt: 'Find out.',
  maxIterations: 5,
  contextLimit: 10_000,
  maxOutputTokens: 100,
  maxMinutes: 2 / 60,
  keep: [],
  compactAt: 0,
  gate: 'off' as const,
};

const PROJECT = { id: 3, path: 'shop/checkout' };
const QUESTION = { noteId: 5, text: 'Is e2e the same?' };

const HELD: HeldJob = {
  id: 'run-1',
  job: {
    kind: 'reply',
    project: PROJECT,
    mrIid: 7,
    noteId: QUESTION.noteId,
    discussionId: 'd',
    authorId: 1,
    mentioned: false,
  },
  attempt: 3,
  isLastAttempt: true,
  signal: new AbortController().signal,
  lease: { name: 'session-a1b2', holder: 'run-1', token: 1 },
  fence: 1,
};

const SUBJECT = {
  sessionId: 'a1b2',
  project: PROJECT,
  visibility: 'private' as const,
  failures: [],
  mr: {
    projectId: PROJECT.id,
    iid: 7,
    title: 'Round',
    state: 'opened',
    sha: 'abc',
    webUrl: 'http://gitlab.test',
    authorId: 1,
    createdAt: '2026-11-01T12:00:00Z',
    headPipelineId: null,
  },
  question: QUESTION,
  resumes: false,
};
