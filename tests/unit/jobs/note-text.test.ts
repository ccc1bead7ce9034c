import { describe, expect, test } from 'vitest';
import { composeNote, type NoteFacts } from '../../../src/jobs/note-text.ts';
import { toSessionId } from '../../../src/jobs/session-id.ts';

const facts: NoteFacts = {
  text: 'The tests failed.',
  ending: 'answered',
  reason: 'the model was done',
  models: ['anthropic/claude'],
  usage: { inputTokens: 1_000, cacheReadTokens: 39_000, cacheWriteTokens: 500, outputTokens: 1_500 },
  costMicroUsd: 123_456,
  iterations: 6,
  sessionId: '1a2b3c4d-0000-0000-0000-000000000000',
  isSessionLost: false,
  gaps: [],
  hasWithheld: false,
  evidence: { verified: 0, quotes: 0 },
};

describe('a note', () => {
  test('is what the agent found and, small, how', () => {
    expect(composeNote(facts)).toBe(
      'The tests failed.\n\n<sub>Hummingbird · anthropic/claude · 6 turns · 42k tokens · $0.12 · session 1a2b3c4d · reply to this note to ask further</sub>',
    );
  });

  test.each([
    [{ verified: 3, quotes: 3 }, '3 of 3 quotes verified'],
    [{ verified: 0, quotes: 1 }, '0 of 1 quote verified'],
    [null, 'quotes not checked'],
  ])('says how many of its quotes were verified: %j', (evidence, words) => {
    expect(composeNote({ ...facts, evidence })).toContain(` · $0.12 · ${words} · session 1a2b3c4d · `);
  });

  test.each(['iterations', 'context', 'time', 'money', 'empty'] as const)(
    'of a run that ended early (%s) says so first, with the reason',
    (ending) => {
      const note = composeNote({ ...facts, ending, reason: 'all 50 turns were used' });
      expect(note).toMatch(/^> ⚠️ .*\(all 50 turns were used\)\n\nThe tests failed\./);
    },
  );

  test.each([
    ['unexpected-error', /^> ⚠️ .*internal error/],
    ['model-error', /^> ⚠️ The model could not be used/],
  ] as const)('of a run that broke (%s) tells nothing of the inside', (ending, words) => {
    const note = composeNote({ ...facts, ending, reason: 'EISDIR: /srv/sessions' });
    expect(note).toMatch(words);
    expect(note).not.toContain('EISDIR');
  });

  test('of a session that was lost says so', () => {
    expect(composeNote({ ...facts, isSessionLost: true })).toMatch(/^> ⚠️ The earlier conversation/);
  });

  test('says to whom the agent fell back', () => {
    expect(composeNote({ ...facts, models: ['anthropic/claude', 'gemini/flash'] })).toContain(
      '· anthropic/claude → gemini/flash ·',
    );
  });

  test('names what could not be read, but no endless list of it', () => {
    const gaps = Array.from({ length: 7 }, (_, index) => `gitlab_get_job_log {"job_id":${index}}`);
    const [notice] = composeNote({ ...facts, gaps }).split('\n');
    expect(notice).toContain('`gitlab_get_job_log {"job_id":4}` and 2 more.');
    expect(notice).not.toContain('"job_id":5');
  });
});

test('the same subject has the same session, another commit another one', () => {
  const subject = { projectId: 5, mrIid: 7, sha: 'abc', workflow: 'analyze-failures' };
  expect(toSessionId(subject)).toBe(toSessionId({ ...subject }));
  expect(toSessionId(subject)).toMatch(/^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/);
  expect(toSessionId({ ...subject, sha: 'abd' })).not.toBe(toSessionId(subject));
  // No two subjects run into each other.
  expect(toSessionId({ ...subject, projectId: 57, mrIid: 7 })).not.toBe(
    toSessionId({ ...subject, mrIid: 77 }),
  );
});
