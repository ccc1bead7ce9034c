import { expect, test } from 'vitest';
import { NotFoundError } from '../../../src/errors.ts';
import { createScene, type Scene } from './scene.ts';

test('a reply turns the analysis into a thread, and the answer is there once', async () => {
  await using scene = await createScene();
  const { notes, reply, analysis } = await askedScene(scene);

  const made = await notes.ensureReply({ ...reply, body: 'Because of the TTL.' });
  const again = await notes.ensureReply({ ...reply, body: 'Because of the TTL.' });

  expect(scene.gitlab.discussions(scene.project.id, scene.mr.iid)).toMatchObject([
    [
      { id: analysis.noteId, type: 'DiscussionNote' },
      { id: reply.replyTo },
      { id: made.noteId, authorId: scene.agent.id, body: expect.stringMatching(/^Because of the TTL\./) },
    ],
  ]);
  expect(made).toMatchObject({ discussionId: analysis.discussionId, outcome: 'created' });
  expect(again).toEqual({ ...made, outcome: 'unchanged' });
  expect(await notes.ensureReply({ ...reply, body: 'No: the TTL.' })).toEqual({ ...made, outcome: 'edited' });
});

test('an answer that was posted without GitLab saying so is there once', async () => {
  await using scene = await createScene();
  const { notes, reply } = await askedScene(scene);
  scene.gitlab.fail({ match: { method: 'POST', times: 1 }, with: 'commit-then-drop' });

  const made = await notes.ensureReply({ ...reply, body: 'Because.' });

  expect(made.outcome).toBe('created');
  expect(scene.notes()).toHaveLength(3);
});

test('each question gets its own answer', async () => {
  await using scene = await createScene();
  const { notes, reply } = await askedScene(scene);
  const more = scene.write(scene.nadia.id, 'And now?', reply.discussionId);

  const first = await notes.ensureReply({ ...reply, body: 'Same words' });
  const second = await notes.ensureReply({ ...reply, replyTo: more.id, body: 'Same words' });

  expect(second).toMatchObject({ outcome: 'created' });
  expect(second.noteId).not.toBe(first.noteId);
  expect(await notes.ensureAnalysis(scene.analysis('Stale cache'))).toMatchObject({ outcome: 'unchanged' });
});

test('on request the thread is resolved, once', async () => {
  await using scene = await createScene();
  const { notes, reply } = await askedScene(scene);
  scene.gitlab.fail({ match: { method: 'PUT', times: 1 }, with: 'commit-then-drop' });

  await notes.ensureReply({ ...reply, body: 'Because.', resolve: true });
  await notes.ensureReply({ ...reply, body: 'Because.', resolve: true });

  expect(scene.notes().map(({ resolvedById }) => resolvedById)).toEqual(Array(3).fill(scene.agent.id));
  expect(scene.writes()).toEqual(['POST', 'POST', 'PUT']);
});

test('a thread that is gone is said to be gone', async () => {
  await using scene = await createScene();
  const { notes, reply } = await askedScene(scene);
  const thread = { ...reply, discussionId: 'f'.repeat(40) };

  await expect(notes.ensureReply({ ...thread, body: 'Because.' })).rejects.toThrow(NotFoundError);
  expect(await notes.findSession(thread)).toBeNull();
  expect(await notes.readReply({ ...thread, noteId: reply.replyTo })).toBeNull();
});

test('a thread belongs to the session that wrote in it last', async () => {
  await using scene = await createScene();
  const { notes, reply, analysis } = await askedScene(scene);
  expect(await notes.findSession(reply)).toEqual({ sessionId: 's-1', noteId: analysis.noteId });

  const answer = await notes.ensureReply({ ...reply, sessionId: 's-2', body: 'Started afresh.' });
  expect(await notes.findSession(reply)).toEqual({ sessionId: 's-2', noteId: answer.noteId });

  await notes.ensureAnalysis(scene.analysis('A new pipeline failed', 's-3'));
  expect(await notes.findSession(reply)).toEqual({ sessionId: 's-3', noteId: analysis.noteId });
});

test("a thread in which a person pasted the agent's marker has no session", async () => {
  await using scene = await createScene();
  const { notes, analysis } = await askedScene(scene);
  const copied = scene.notes().find(({ id }) => id === analysis.noteId)?.body ?? '';
  const theirs = scene.write(scene.nadia.id, copied);

  expect(
    await notes.findSession({ mr: scene.ref, discussionId: theirs.discussionId, signal: scene.signal }),
  ).toBeNull();
});

test("a person's note is read, from its own thread only", async () => {
  await using scene = await createScene();
  const { notes, reply } = await askedScene(scene);
  const elsewhere = scene.write(scene.nadia.id, 'Somewhere else');

  expect(await notes.readReply({ ...reply, noteId: reply.replyTo })).toEqual({
    body: 'Why?',
    authorId: scene.nadia.id,
    authorUsername: 'nadia',
    createdAt: expect.stringMatching(/^\d{4}-/),
  });
  expect(await notes.readReply({ ...reply, noteId: elsewhere.id })).toBeNull();
});

/** The agent's analysis, and Nadia asks about it. */
async function askedScene(scene: Scene) {
  const notes = scene.createNotes();
  const analysis = await notes.ensureAnalysis(scene.analysis('Stale cache'));
  const { discussionId } = analysis;
  const question = scene.write(scene.nadia.id, 'Why?', discussionId);
  const { ref: mr, signal } = scene;
  return { notes, analysis, reply: { mr, discussionId, sessionId: 's-1', replyTo: question.id, signal } };
}
