import { expect, test } from 'vitest';
import { createScene } from './scene.ts';

type NoteAnswer = { id: number; type: string | null };
type DiscussionAnswer = { id: string; individual_note: boolean; notes: NoteAnswer[] };

test('a plain note stands alone until somebody replies, which makes a thread of it', async () => {
  await using scene = await createScene();
  const plain = await scene.call<NoteAnswer>(`${scene.mrPath}/notes`, {
    method: 'POST',
    body: { body: 'The build failed.' },
  });
  const [alone] = (await scene.call<DiscussionAnswer[]>(`${scene.mrPath}/discussions`)).body;

  const reply = await scene.call<NoteAnswer>(`${scene.mrPath}/discussions/${alone?.id}/notes`, {
    as: scene.doraToken,
    method: 'POST',
    body: { body: 'Why?' },
  });

  expect(plain).toMatchObject({
    status: 201,
    body: { type: null, resolvable: false, system: false, author: { id: scene.bot.id } },
  });
  expect(alone).toMatchObject({ individual_note: true, notes: [{ id: plain.body.id, type: null }] });
  expect(reply).toMatchObject({ status: 201, body: { type: 'DiscussionNote', resolvable: true } });
  expect(scene.gitlab.discussions(scene.project.id, scene.mr.iid)).toMatchObject([
    [{ id: plain.body.id }, { id: reply.body.id }],
  ]);
  const thread = await scene.call(`${scene.mrPath}/discussions/${alone?.id}`);
  expect(thread.body).toMatchObject({
    id: alone?.id,
    individual_note: false,
    notes: [
      { id: plain.body.id, type: 'DiscussionNote', body: 'The build failed.' },
      { id: reply.body.id, type: 'DiscussionNote', body: 'Why?', author: { username: 'dora' } },
    ],
  });
});

test('a thread can be started, resolved and opened again', async () => {
  await using scene = await createScene();
  const started = await scene.call<DiscussionAnswer>(`${scene.mrPath}/discussions`, {
    method: 'POST',
    body: { body: 'Look here.' },
  });
  const path = `${scene.mrPath}/discussions/${started.body.id}`;

  const resolved = await scene.call(path, { method: 'PUT', body: { resolved: true } });
  const reopened = await scene.call(path, { method: 'PUT', body: { resolved: false } });

  expect(started).toMatchObject({
    status: 201,
    body: { individual_note: false, notes: [{ type: 'DiscussionNote', resolved: false }] },
  });
  expect(resolved.body).toMatchObject({
    notes: [{ resolved: true, resolved_by: { username: 'hummingbird' } }],
  });
  expect(reopened.body).toMatchObject({ notes: [{ resolved: false, resolved_by: null }] });
});

test('notes are listed newest first unless told otherwise', async () => {
  await using scene = await createScene();
  const { projectId, iid } = scene.mr;
  for (const body of ['first', 'second']) {
    scene.gitlab.addNote({ projectId, iid, userId: scene.dora.id, body });
  }

  expect((await scene.call(`${scene.mrPath}/notes`)).body).toMatchObject([
    { body: 'second' },
    { body: 'first' },
  ]);
  expect((await scene.call(`${scene.mrPath}/notes?sort=asc`)).body).toMatchObject([
    { body: 'first' },
    { body: 'second' },
  ]);
});

test('only its author may change or delete a note', async () => {
  await using scene = await createScene();
  const { projectId, iid } = scene.mr;
  const note = scene.gitlab.addNote({ projectId, iid, userId: scene.dora.id, body: 'mine' });
  const path = `${scene.mrPath}/notes/${note.id}`;

  const edit = await scene.call(path, { method: 'PUT', body: { body: 'ours' } });
  const removal = await scene.call(path, { method: 'DELETE' });
  expect([edit.status, removal.status]).toEqual([403, 403]);
  expect(scene.gitlab.notes(projectId, iid)).toMatchObject([{ body: 'mine' }]);

  const own = await scene.call(path, { as: scene.doraToken, method: 'PUT', body: { body: 'still mine' } });
  expect(own).toMatchObject({ status: 200, body: { id: note.id, body: 'still mine' } });
  const ownRemoval = await scene.call(path, { as: scene.doraToken, method: 'DELETE' });
  expect(ownRemoval.status).toBe(204);
  expect((await scene.call(path)).status).toBe(404);
});

test.each([
  [{}, { error: 'body is missing' }],
  [{ body: '  ' }, { message: expect.stringContaining("can't be blank") }],
  [{ body: 'x'.repeat(1_000_001) }, { message: expect.stringContaining('too long') }],
])('a note without proper text is refused (case %#)', async (body, expected) => {
  await using scene = await createScene();

  const answer = await scene.call(`${scene.mrPath}/notes`, { method: 'POST', body });

  expect(answer).toMatchObject({ status: 400, body: expected });
  expect(scene.gitlab.notes(scene.mr.projectId, scene.mr.iid)).toEqual([]);
});

test('an internal note is hidden from those who are no members', async () => {
  await using scene = await createScene();
  const open = scene.gitlab.addProject({
    path: 'group/open',
    visibility: 'public',
    members: [{ userId: scene.bot.id, accessLevel: 30 }],
  });
  const mr = scene.gitlab.addMergeRequest({
    projectId: open.id,
    authorId: scene.bot.id,
    sourceBranch: 'topic',
  });
  scene.gitlab.addNote({
    projectId: open.id,
    iid: mr.iid,
    userId: scene.bot.id,
    body: 'secret',
    internal: true,
  });
  const notes = `/projects/${open.id}/merge_requests/${mr.iid}/notes`;

  expect((await scene.call(notes)).body).toMatchObject([{ body: 'secret', internal: true }]);
  expect((await scene.call(notes, { as: scene.doraToken })).body).toEqual([]);
});

test('GitLab writes notes of its own, to which nobody can reply', async () => {
  await using scene = await createScene();
  scene.gitlab.closeMergeRequest(scene.mr);
  const [closed] = (await scene.call<DiscussionAnswer[]>(`${scene.mrPath}/discussions`)).body;

  const reply = await scene.call(`${scene.mrPath}/discussions/${closed?.id}/notes`, {
    method: 'POST',
    body: { body: 'why?' },
  });

  expect(closed).toMatchObject({ individual_note: true, notes: [{ system: true, body: 'closed' }] });
  expect(reply.status).toBe(400);
  expect(scene.gitlab.notes(scene.mr.projectId, scene.mr.iid)).toEqual([]);
});

test('an emoji is given once by each user, and taken back by that user alone', async () => {
  await using scene = await createScene();
  const { projectId, iid } = scene.mr;
  const note = scene.gitlab.addNote({ projectId, iid, userId: scene.dora.id, body: 'done' });
  const path = `${scene.mrPath}/notes/${note.id}/award_emoji`;
  const give = { method: 'POST', body: { name: 'thumbsup' } };

  const first = await scene.call<{ id: number }>(path, give);
  const again = await scene.call(path, give);
  const byDora = await scene.call(path, { ...give, as: scene.doraToken });

  expect(first).toMatchObject({
    status: 201,
    body: { name: 'thumbsup', awardable_id: note.id, awardable_type: 'Note', user: { id: scene.bot.id } },
  });
  expect(again.status).toBe(404);
  expect(again.body).toEqual({ message: '404 Award Emoji Name has already been taken' });
  expect(byDora.status).toBe(201);
  expect(scene.gitlab.awards(note.id)).toHaveLength(2);

  const foreign = await scene.call(`${path}/${first.body.id}`, { as: scene.doraToken, method: 'DELETE' });
  const own = await scene.call(`${path}/${first.body.id}`, { method: 'DELETE' });
  expect([foreign.status, own.status]).toEqual([401, 204]);
  expect((await scene.call(path)).body).toMatchObject([{ user: { id: scene.dora.id } }]);
});

test('an emoji on the merge request counts as its vote', async () => {
  await using scene = await createScene();

  await scene.call(`${scene.mrPath}/award_emoji`, { method: 'POST', body: { name: 'thumbsup' } });

  expect((await scene.call(`${scene.mrPath}/award_emoji`)).body).toMatchObject([
    { name: 'thumbsup', awardable_type: 'MergeRequest' },
  ]);
  expect((await scene.call(scene.mrPath)).body).toMatchObject({ upvotes: 1, downvotes: 0 });
});
