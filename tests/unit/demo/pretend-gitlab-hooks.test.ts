import { expect, test } from 'vitest';
import { createListening } from './listening.ts';

test('a hook is called with the headers that GitLab sends', async () => {
  await using scene = await createListening('pipeline_events');

  const [received] = await scene.after(() => scene.gitlab.addPipeline({ mergeRequest: scene.mr }));

  expect(received?.headers).toMatchObject({
    'content-type': 'application/json',
    'user-agent': expect.stringMatching(/^GitLab\/18\./),
    'x-gitlab-event': 'Pipeline Hook',
    'x-gitlab-token': 'hush',
    'x-gitlab-instance': scene.gitlab.url,
    'x-gitlab-webhook-uuid': expect.stringMatching(/^[0-9a-f-]{36}$/),
    'x-gitlab-event-uuid': expect.stringMatching(/^[0-9a-f-]{36}$/),
    'idempotency-key': expect.stringMatching(/^[0-9a-f-]{36}$/),
  });
  expect(received?.headers).not.toHaveProperty('webhook-signature');
});

test('a hook hears only of the events and the project that it is for', async () => {
  await using scene = await createListening('note_events');
  const other = scene.gitlab.addProject({ path: 'group/other' });

  const received = await scene.after(() => {
    scene.gitlab.addPipeline({ mergeRequest: scene.mr });
    const mr = scene.gitlab.addMergeRequest({
      projectId: other.id,
      authorId: scene.dora.id,
      sourceBranch: 'x',
    });
    scene.gitlab.addNote({ projectId: other.id, iid: mr.iid, userId: scene.dora.id, body: 'elsewhere' });
  });

  expect(received).toEqual([]);
});

test('a note hook tells creations and edits apart', async () => {
  await using scene = await createListening('note_events');
  const { projectId, iid } = scene.mr;

  const created = await scene.after(() =>
    scene.gitlab.addNote({ projectId, iid, userId: scene.dora.id, body: 'Why did it fail?' }),
  );
  const [note] = scene.gitlab.notes(projectId, iid);
  const edited = await scene.after(() => scene.gitlab.editNote(note?.id ?? 0, 'Why has it failed?'));
  const untouched = await scene.after(() => scene.gitlab.editNote(note?.id ?? 0, 'Why has it failed?'));

  expect(created[0]?.headers['x-gitlab-event']).toBe('Note Hook');
  expect(created[0]?.payload).toMatchObject({
    object_kind: 'note',
    event_type: 'note',
    user: { id: scene.dora.id, username: 'dora' },
    project_id: projectId,
    object_attributes: {
      id: note?.id,
      note: 'Why did it fail?',
      action: 'create',
      discussion_id: note?.discussionId,
      type: null,
      system: false,
      internal: false,
      noteable_type: 'MergeRequest',
      noteable_id: scene.mr.id,
      url: `${scene.gitlab.url}/group/project/-/merge_requests/1#note_${note?.id}`,
    },
    merge_request: { iid, title: 'Add a cache', last_commit: { id: scene.mr.commits.at(-1) } },
  });
  expect(edited[0]?.payload).toMatchObject({
    object_attributes: { action: 'update', note: 'Why has it failed?' },
  });
  expect(untouched).toEqual([]);
});

test('a reply names the thread that it belongs to', async () => {
  await using scene = await createListening('note_events');
  const { projectId, iid } = scene.mr;
  const first = scene.gitlab.addNote({ projectId, iid, userId: scene.bot.id, body: 'Analysis' });
  await scene.gitlab.idle();

  const [received] = await scene.after(() =>
    scene.gitlab.addNote({
      projectId,
      iid,
      userId: scene.dora.id,
      body: 'More?',
      discussionId: first.discussionId,
    }),
  );

  expect(received?.payload).toMatchObject({
    object_attributes: { discussion_id: first.discussionId, type: 'DiscussionNote' },
  });
});

test('an internal note comes as a confidential one, and only to hooks that are for those', async () => {
  await using scene = await createListening('note_events', 'confidential_note_events');
  await using deaf = await createListening('note_events');
  const note = { userId: 0, body: 'Between us', internal: true };

  const [received] = await scene.after(() =>
    scene.gitlab.addNote({ ...scene.mr, ...note, userId: scene.dora.id }),
  );
  const unheard = await deaf.after(() => deaf.gitlab.addNote({ ...deaf.mr, ...note, userId: deaf.dora.id }));

  expect(received?.headers['x-gitlab-event']).toBe('Confidential Note Hook');
  expect(received?.payload).toMatchObject({
    object_kind: 'note',
    event_type: 'confidential_note',
    object_attributes: { internal: true },
  });
  expect(unheard).toEqual([]);
});

test('an emoji hook carries the note, and tells giving from taking back', async () => {
  await using scene = await createListening('emoji_events');
  const { projectId, iid } = scene.mr;
  const note = scene.gitlab.addNote({ projectId, iid, userId: scene.bot.id, body: 'Analysis' });

  const given = await scene.after(() => scene.gitlab.award(note.id, 'thumbsdown', scene.dora.id));
  const [award] = scene.gitlab.awards(note.id);
  const taken = await scene.after(() => scene.gitlab.revokeAward(award?.id ?? 0));

  expect(given[0]?.headers['x-gitlab-event']).toBe('Emoji Hook');
  expect(given[0]?.payload).toMatchObject({
    object_kind: 'emoji',
    event_type: 'award',
    user: { id: scene.dora.id },
    object_attributes: {
      id: award?.id,
      name: 'thumbsdown',
      awardable_type: 'Note',
      awardable_id: note.id,
      action: 'award',
    },
    note: { id: note.id, note: 'Analysis', author_id: scene.bot.id, discussion_id: note.discussionId },
    merge_request: { iid },
  });
  expect(taken[0]?.payload).toMatchObject({ event_type: 'revoke', note: { id: note.id } });
});

test('a merge request hook tells what happened, and only a push has an old revision', async () => {
  await using scene = await createListening('merge_requests_events');
  const oldrev = scene.mr.commits.at(-1);

  const pushed = await scene.after(() => scene.gitlab.pushCommit(scene.mr));
  const edited = await scene.after(() =>
    scene.gitlab.editMergeRequest(scene.mr, { title: 'Add two caches' }),
  );
  const closed = await scene.after(() => scene.gitlab.closeMergeRequest(scene.mr, scene.bot.id));
  const reopened = await scene.after(() => scene.gitlab.reopenMergeRequest(scene.mr));
  const merged = await scene.after(() => scene.gitlab.mergeMergeRequest(scene.mr));

  expect(pushed[0]?.headers['x-gitlab-event']).toBe('Merge Request Hook');
  expect(pushed[0]?.payload).toMatchObject({
    object_kind: 'merge_request',
    event_type: 'merge_request',
    object_attributes: {
      id: scene.mr.id,
      iid: scene.mr.iid,
      action: 'update',
      oldrev,
      state: 'opened',
      last_commit: { id: scene.mr.commits.at(-1) },
      source_project_id: scene.project.id,
      target_project_id: scene.project.id,
    },
    changes: {},
  });
  expect(edited[0]?.payload).toMatchObject({
    object_attributes: { action: 'update' },
    changes: { title: { previous: 'Add a cache', current: 'Add two caches' } },
  });
  expect(edited[0]?.payload.object_attributes).not.toHaveProperty('oldrev');
  expect(closed[0]?.payload).toMatchObject({
    user: { id: scene.bot.id },
    object_attributes: { action: 'close', state: 'closed' },
  });
  expect(reopened[0]?.payload).toMatchObject({ object_attributes: { action: 'reopen', state: 'opened' } });
  expect(merged[0]?.payload).toMatchObject({ object_attributes: { action: 'merge', state: 'merged' } });
});

test('a push is told as such too', async () => {
  await using scene = await createListening('push_events');
  const before = scene.mr.commits.at(-1);

  const [received] = await scene.after(() =>
    scene.gitlab.pushCommit(scene.mr, { diffs: [{ path: 'new.ts', diff: '+1', change: 'new' }] }),
  );

  expect(received?.headers['x-gitlab-event']).toBe('Push Hook');
  expect(received?.payload).toMatchObject({
    object_kind: 'push',
    before,
    after: scene.mr.commits.at(-1),
    ref: 'refs/heads/cache',
    user_username: 'dora',
    commits: [{ id: scene.mr.commits.at(-1), added: ['new.ts'] }],
  });
});

test('what is done through the API fires the same hooks', async () => {
  await using scene = await createListening();

  const received = await scene.after(() =>
    scene.call(`${scene.mrPath}/notes`, { method: 'POST', body: { body: 'Done.\n/close' } }),
  );

  expect(received.map(({ headers }) => headers['x-gitlab-event']).toSorted()).toEqual([
    'Merge Request Hook',
    'Note Hook',
  ]);
});
