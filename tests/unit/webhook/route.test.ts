import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { route } from '../../../src/webhook/route.ts';
import type { RouteContext } from '../../../src/webhook/routing.ts';
import {
  AGENT,
  build,
  emojiHook,
  externalPipelineHook,
  mergeRequestHook,
  noteHook,
  otherHooks,
  pipelineHook,
  SHA,
} from '../../fixtures/hooks.ts';

const project = { id: 5, path: 'shop/checkout' };
const context: RouteContext = {
  agent: AGENT,
  isAllowed: ({ path }) => path.startsWith('shop/'),
  ignoreUsers: [77, 'release-train'],
};

const jobOf = (body: unknown, given = context) => {
  const routing = route(body, given);
  return routing.kind === 'job' ? routing.job : routing;
};
const keyOf = (body: unknown) => {
  const routing = route(body, context);
  return routing.kind === 'job' ? routing.eventKey : routing;
};
const reasonOf = (body: unknown, given = context) => {
  const routing = route(body, given);
  return routing.kind === 'ignored' ? routing.reason : routing;
};

describe('a pipeline event', () => {
  test('that failed becomes an analysis of its merge request', () => {
    expect(jobOf(pipelineHook())).toEqual({
      kind: 'analyze',
      project,
      mrIid: 7,
      sha: SHA,
      isMergeResult: false,
      pipeline: { id: 3100, projectId: 5 },
    });
    expect(jobOf(pipelineHook({ ref: 'refs/merge-requests/7/merge' }))).toMatchObject({
      isMergeResult: true,
    });
  });

  test('from outside, without builds or merge request, becomes an analysis of its commit', () => {
    expect(jobOf(externalPipelineHook())).toMatchObject({ kind: 'analyze', mrIid: null, sha: SHA });
  });

  test('of a branch may belong to a merge request too', () => {
    const body = pipelineHook({ source: 'push', ref: 'round-prices' }, { merge_request: null });
    expect(jobOf(body)).toMatchObject({ kind: 'analyze', mrIid: null, sha: SHA });
  });

  test('that ran in a fork is about the target project', () => {
    const odd = {
      iid: 9,
      state: 'opened',
      target_project_id: 6,
      url: 'http://x/%E0%A4%A/-/merge_requests/9',
    };
    expect(reasonOf(pipelineHook({}, { merge_request: odd }))).toMatch(/is not in the configured projects/);
    const mr = {
      iid: 9,
      state: 'opened',
      target_project_id: 6,
      url: 'https://gitlab.example.com/shop/core/-/merge_requests/9',
    };
    expect(jobOf(pipelineHook({}, { merge_request: mr }))).toMatchObject({
      project: { id: 6, path: 'shop/core' },
      mrIid: 9,
      pipeline: { id: 3100, projectId: 5 },
    });
    const foreign = { ...mr, url: 'https://gitlab.example.com/secret/core/-/merge_requests/9' };
    expect(reasonOf(pipelineHook({}, { merge_request: foreign }))).toBe(
      'the target project secret/core is not in the configured projects',
    );
  });

  test('counts when one job that must not fail has failed among those that may', () => {
    const builds = [build({ id: 1, allow_failure: true }), build({ id: 2 })];
    expect(jobOf(pipelineHook({}, { builds }))).toMatchObject({ kind: 'analyze' });
  });

  test('is named by what failed, so that a retry that fails again is another event', () => {
    const first = keyOf(pipelineHook());
    expect(keyOf(pipelineHook())).toBe(first);
    expect(keyOf(pipelineHook({}, { builds: [build({ id: 777 })] }))).not.toBe(first);
    expect(keyOf(pipelineHook({ finished_at: '2026-11-18 09:00:00 UTC' }))).not.toBe(first);
    expect(keyOf(pipelineHook({ finished_at: '2026-11-18T08:09:30.412Z' }))).toBe(first);
    expect(keyOf(pipelineHook({ id: 3101 }))).not.toBe(first);
  });

  test.each([
    ['created', 'the pipeline is created, not failed'],
    ['pending', 'the pipeline is pending, not failed'],
    ['running', 'the pipeline is running, not failed'],
    ['canceled', 'the pipeline is canceled, not failed'],
    ['skipped', 'the pipeline is skipped, not failed'],
  ])('with status %s is ignored', (status, reason) => {
    expect(reasonOf(pipelineHook({ status }))).toBe(reason);
  });

  test('whose failed jobs were all allowed to fail is ignored', () => {
    const builds = [build({ id: 1, allow_failure: true }), build({ id: 2, status: 'success' })];
    expect(reasonOf(pipelineHook({}, { builds }))).toBe('only jobs that are allowed to fail have failed');
  });

  test.each(['closed', 'merged', 'locked'])('of a %s merge request is ignored', (state) => {
    const body = pipelineHook({}, { merge_request: { iid: 7, state } });
    expect(reasonOf(body)).toBe(`merge request !7 is ${state}`);
  });

  test('of a tag is ignored', () => {
    expect(reasonOf(pipelineHook({ tag: true }, { merge_request: null }))).toBe(
      'the pipeline of a tag belongs to no merge request',
    );
  });
});

describe('a merge request event', () => {
  test.each([
    [{ action: 'update' }, 'pushed'],
    [{ action: 'close', oldrev: undefined }, 'closed'],
    [{ action: 'merge', oldrev: undefined }, 'merged'],
  ])('%o makes running analyses outdated', (attributes, change) => {
    expect(jobOf(mergeRequestHook(attributes))).toEqual({
      kind: 'mr-changed',
      project,
      mrIid: 7,
      change,
      sha: SHA,
    });
  });

  test.each(['open', 'reopen', 'approved', 'unapproved', 'update'])(
    '%s without a new commit is ignored',
    (action) => {
      expect(reasonOf(mergeRequestHook({ action, oldrev: null }))).toBe(
        `merge request action '${action}' changes no commit`,
      );
    },
  );
});

test('a pipeline that succeeds may end what an analysis said', () => {
  expect(jobOf(pipelineHook({ status: 'success' }))).toMatchObject({ kind: 'pipeline-passed', mrIid: 7 });
});

describe('a note event', () => {
  test.each(['stop', '@hummingbird stop', 'Stop, please!', '@hummingbird please cancel the analysis.'])(
    'that says nothing but "%s" asks to stop',
    (note) => expect(jobOf(noteHook({ note }))).toMatchObject({ kind: 'stop', noteId: 8800 }),
  );

  test.each(['Why did it stop?', 'stop words are missing', 'do not stop'])(
    'that says "%s" is a reply',
    (note) => expect(jobOf(noteHook({ note }))).toMatchObject({ kind: 'reply' }),
  );

  test('that answers in a thread becomes a reply', () => {
    expect(jobOf(noteHook())).toEqual({
      kind: 'reply',
      project,
      mrIid: 7,
      noteId: 8800,
      discussionId: '6f5e4d3c2b1a09f8e7d6c5b4a3928170ffeeddcc',
      authorId: 42,
      mentioned: false,
    });
  });

  test.each(['@hummingbird why?', 'Please look, @Hummingbird.', 'hey\n@hummingbird', '(@hummingbird)'])(
    'that calls the agent becomes a reply wherever it stands: %j',
    (note) => {
      expect(jobOf(noteHook({ note, type: null }))).toMatchObject({ kind: 'reply', mentioned: true });
    },
  );

  test.each([
    '@hummingbird2 look',
    'mail me at a@hummingbird',
    'no name at all',
    '@hummingbird.dev',
    '@@hummingbird',
  ])('that does neither is ignored: %j', (note) => {
    expect(reasonOf(noteHook({ note, type: null }))).toBe(
      'the note neither answers in a thread nor calls the agent by name',
    );
  });

  test('of an older GitLab is new when it was never updated, and may be a reply when it has no type', () => {
    const old = { action: undefined, type: undefined };
    expect(jobOf(noteHook(old))).toMatchObject({ kind: 'reply' });
    expect(reasonOf(noteHook({ ...old, updated_at: '2026-11-18 09:00:00 UTC' }))).toBe(
      'the note was edited, not written',
    );
  });

  test.each<[string, unknown, string]>([
    ['edited', noteHook({ action: 'update' }), 'the note was edited, not written'],
    ['a system note', noteHook({ system: true }), 'it is a system note'],
    [
      'internal by its event type',
      noteHook({}, { event_type: 'confidential_note' }),
      'the note is internal; its content is not for everyone on the merge request',
    ],
    [
      'internal by its attribute',
      noteHook({ internal: true }),
      'the note is internal; its content is not for everyone on the merge request',
    ],
    ["the agent's own", noteHook({ author_id: AGENT.id }, { user: AGENT }), "it is the agent's own doing"],
    [
      "an access token's",
      noteHook({ author_id: 80 }, { user: { id: 80, username: 'project_12_bot_1f3a9c' } }),
      'project_12_bot_1f3a9c is a bot',
    ],
    [
      "another bot's",
      noteHook({ author_id: 81 }, { user: { id: 81, username: 'renovate-bot' } }),
      'renovate-bot is a bot',
    ],
    [
      'by a user ignored by id',
      noteHook({ author_id: 77 }, { user: { id: 77, username: 'quiet' } }),
      'user quiet is configured to be ignored',
    ],
    [
      'by a user ignored by name',
      noteHook({ author_id: 78 }, { user: { id: 78, username: 'release-train' } }),
      'user release-train is configured to be ignored',
    ],
    [
      'on a closed merge request',
      noteHook({}, { merge_request: { iid: 7, state: 'closed' } }),
      'merge request !7 is closed',
    ],
    [
      'on a merged merge request',
      noteHook({}, { merge_request: { iid: 7, state: 'merged' } }),
      'merge request !7 is merged',
    ],
    [
      'on a commit',
      noteHook({ noteable_type: 'Commit' }, { merge_request: undefined, commit: { id: SHA } }),
      'the note is not on a merge request but on: Commit',
    ],
    [
      'on an issue',
      noteHook({ noteable_type: 'Issue' }, { merge_request: undefined, issue: { iid: 3 } }),
      'the note is not on a merge request but on: Issue',
    ],
    [
      'on a snippet',
      noteHook({ noteable_type: 'Snippet' }, { merge_request: undefined, snippet: { id: 53 } }),
      'the note is not on a merge request but on: Snippet',
    ],
  ])('%s is ignored', (_what, body, reason) => {
    expect(reasonOf(body)).toBe(reason);
  });

  test.each(['talbot', 'abbot', 'robot_wars', 'nadia'])('a person called %s is no bot', (username) => {
    expect(jobOf(noteHook({}, { user: { id: 42, username } }))).toMatchObject({ kind: 'reply' });
  });

  test('is left to the worker while the agent does not know its own account', () => {
    const own = noteHook({ author_id: AGENT.id }, { user: AGENT });
    expect(jobOf(own, { ...context, agent: null })).toMatchObject({ kind: 'reply', authorId: AGENT.id });
    const call = noteHook({ note: '@somebody why?', type: null });
    expect(jobOf(call, { ...context, agent: null })).toMatchObject({ kind: 'reply', mentioned: true });
  });
});

describe('an emoji event', () => {
  test.each([
    ['thumbsup', 'award', 'up', true],
    ['thumbsdown', 'award', 'down', true],
    ['thumbsup', 'revoke', 'up', false],
  ])('%s (%s) on a note of the agent is feedback', (name, action, value, given) => {
    expect(jobOf(emojiHook({ name, action }))).toEqual({
      kind: 'feedback',
      project,
      mrIid: 7,
      noteId: 8700,
      noteAuthorId: AGENT.id,
      awardId: 61,
      userId: 42,
      value,
      given,
    });
  });

  test('given and taken back are two events', () => {
    expect(keyOf(emojiHook())).not.toBe(keyOf(emojiHook({ action: 'revoke' })));
  });

  test.each<[string, unknown, string]>([
    ['of another kind', emojiHook({ name: 'tada' }), "the reaction 'tada' is no verdict"],
    [
      "on somebody else's note",
      emojiHook({}, { note: { id: 1, author_id: 42, noteable_type: 'MergeRequest' } }),
      "the reaction is not on a note of the agent's",
    ],
    [
      'on an issue note',
      emojiHook({}, { note: { id: 1, author_id: AGENT.id, noteable_type: 'Issue' } }),
      'the reaction is not on a note of a merge request',
    ],
    [
      'on a merge request',
      emojiHook({ awardable_type: 'MergeRequest' }, { note: undefined }),
      'the reaction is not on a note of a merge request',
    ],
    ["of the agent's own", emojiHook({}, { user: AGENT }), "it is the agent's own doing"],
  ])('%s is ignored', (_what, body, reason) => {
    expect(reasonOf(body)).toBe(reason);
  });
});

describe('any event', () => {
  test.each([pipelineHook(), mergeRequestHook(), noteHook(), emojiHook()])(
    'of a project that is not configured is ignored',
    (body) => {
      const elsewhere = { ...body, project: { id: 9, path_with_namespace: 'other/app' } };
      expect(reasonOf(elsewhere)).toBe('project other/app is not in the configured projects');
    },
  );

  test.each(Object.entries(otherHooks))('%s is ignored with a reason', (_name, body) => {
    expect(reasonOf(body)).toMatch(/events are not used|has no object_kind/);
  });

  test.each([null, 'text', 12, [], [pipelineHook()]])('that is no object is ignored: %j', (body) => {
    expect(reasonOf(body)).toBe('the event is not a JSON object');
  });

  test('with missing parts is ignored, naming them', () => {
    expect(reasonOf({ object_kind: 'pipeline', object_attributes: {}, project: { id: 5 } })).toMatch(
      /does not look like GitLab's: .*path_with_namespace.*object_attributes\.id/s,
    );
  });

  test('is answered with a short reason, however much is wrong with it', () => {
    const builds = Array.from({ length: 20_000 }, () => ({ id: 'x' }));
    expect(String(reasonOf(pipelineHook({}, { builds }))).length).toBeLessThan(500);
    expect(String(reasonOf({ object_kind: 'x'.repeat(2_000_000) })).length).toBeLessThan(500);
    expect(reasonOf(pipelineHook({ sha: 'a\u0000b' }))).toMatch(/object_attributes.sha: is not a commit/);
  });

  test('never makes routing throw, whatever is in it', () => {
    const known = fc.constantFrom('pipeline', 'merge_request', 'note', 'emoji', 'build');
    const kinds = fc.oneof(known, fc.anything());
    fc.assert(
      fc.property(kinds, fc.object(), fc.object(), (object_kind, attributes, rest) => {
        const sample = { ...noteHook(), ...pipelineHook() };
        const object_attributes = { ...Object(sample.object_attributes), ...attributes };
        const routing = route({ ...sample, ...rest, object_kind, object_attributes }, context);
        expect(['job', 'ignored']).toContain(routing.kind);
      }),
    );
  });
});
