import { randomBytes } from 'node:crypto';
import { expect, test } from 'vitest';
import { RetryableError } from '../../../src/errors.ts';
import { createMarkers } from '../../../src/publish/marker.ts';
import { createScene, type Scene } from './scene.ts';

test('the analysis becomes a note that stands alone, with a marker at its end', async () => {
  await using scene = await createScene();

  const made = await scene.createNotes().ensureAnalysis(scene.analysis('The cache is stale.'));

  const [note] = scene.notes();
  expect(scene.notes()).toHaveLength(1);
  expect(note).toMatchObject({ type: null, authorId: scene.agent.id });
  expect(made).toEqual({ noteId: note?.id, discussionId: note?.discussionId, outcome: 'created' });
  expect(note?.body).toMatch(/^The cache is stale\.\n\n<!-- hummingbird:1 kind=analysis session=s-1 sig=/);
});

test('the same again writes nothing', async () => {
  await using scene = await createScene();
  const notes = scene.createNotes();
  const made = await notes.ensureAnalysis(scene.analysis('The cache is stale.'));

  const again = await notes.ensureAnalysis(scene.analysis('The cache is stale.'));

  expect(again).toEqual({ ...made, outcome: 'unchanged' });
  expect(scene.writes()).toEqual(['POST']);
});

test('another text goes into the same note and brings its session', async () => {
  await using scene = await createScene();
  const notes = scene.createNotes();
  const made = await notes.ensureAnalysis(scene.analysis('First guess', 's-1'));

  const edited = await notes.ensureAnalysis(scene.analysis('Better', 's-2'));

  expect(edited).toEqual({ ...made, outcome: 'edited' });
  expect(scene.notes()).toHaveLength(1);
  expect(markerOf(scene)).toEqual({ kind: 'analysis', sessionId: 's-2' });
  expect(scene.notes()[0]?.body).toMatch(/^Better\n/);
});

test('the same text from another session moves the thread to that session', async () => {
  await using scene = await createScene();
  const notes = scene.createNotes();
  await notes.ensureAnalysis(scene.analysis('Same', 's-1'));

  expect(await notes.ensureAnalysis(scene.analysis('Same', 's-2'))).toMatchObject({ outcome: 'edited' });

  expect(markerOf(scene)).toMatchObject({ sessionId: 's-2' });
});

test.each(['commit-then-drop', 'half'] as const)(
  'a POST that was done but not answered (%s)',
  async (fault) => {
    await using scene = await createScene();
    scene.gitlab.fail({ match: { method: 'POST', path: '/notes', times: 1 }, with: fault });

    const made = await scene.createNotes().ensureAnalysis(scene.analysis('Lost and found'));

    expect(scene.notes().map(({ id }) => id)).toEqual([made.noteId]);
    expect(made.outcome).toBe('created');
    expect(scene.writes()).toEqual(['POST']);
  },
);

test.each(['reset', { status: 502 }] as const)(
  'a POST that failed is not repeated blindly (%j)',
  async (fault) => {
    await using scene = await createScene();
    const notes = scene.createNotes();
    scene.gitlab.fail({ match: { method: 'POST', times: 1 }, with: fault });

    await expect(notes.ensureAnalysis(scene.analysis('Hello'))).rejects.toThrow(/outcome unknown/);

    expect(scene.notes()).toEqual([]);
    expect(await notes.ensureAnalysis(scene.analysis('Hello'))).toMatchObject({ outcome: 'created' });
    expect(scene.notes()).toHaveLength(1);
  },
);

test('an edit that was done but not answered has been done', async () => {
  await using scene = await createScene();
  const notes = scene.createNotes();
  await notes.ensureAnalysis(scene.analysis('One'));
  scene.gitlab.fail({ match: { method: 'PUT', times: 1 }, with: 'commit-then-drop' });

  expect(await notes.ensureAnalysis(scene.analysis('Two'))).toMatchObject({ outcome: 'edited' });

  expect(scene.writes()).toEqual(['POST', 'PUT']);
  expect(scene.notes()).toMatchObject([{ body: expect.stringMatching(/^Two/) }]);
});

test('an edit that failed is thrown, and the old text stays', async () => {
  await using scene = await createScene();
  const notes = scene.createNotes();
  await notes.ensureAnalysis(scene.analysis('One'));
  scene.gitlab.fail({ match: { method: 'PUT', times: 1 }, with: 'reset' });

  await expect(notes.ensureAnalysis(scene.analysis('Two'))).rejects.toThrow(RetryableError);

  expect(scene.notes()).toMatchObject([{ body: expect.stringMatching(/^One/) }]);
});

test('two at once settle on one note', async () => {
  await using scene = await createScene();
  // Both have looked before either has posted.
  scene.gitlab.fail({ match: { method: 'POST', times: 2 }, with: { delayMs: 100 } });

  const both = await Promise.all([
    scene.createNotes().ensureAnalysis(scene.analysis('From one')),
    scene.createNotes().ensureAnalysis(scene.analysis('From the other')),
  ]);
  const last = await scene.createNotes().ensureAnalysis(scene.analysis('From a third'));

  expect(scene.writes().filter((method) => method === 'POST')).toHaveLength(2);
  expect(scene.notes()).toMatchObject([{ id: last.noteId, body: expect.stringMatching(/^From a third/) }]);
  expect(both.map(({ noteId }) => noteId)).toContain(last.noteId);
});

test.each(['reset', 'commit-then-drop', 'half'] as const)(
  'of several the oldest stays (DELETE: %s)',
  async (fault) => {
    await using scene = await createScene();
    const marker = scene.markers.write({ kind: 'analysis', sessionId: 's-0', ...scene.place });
    const [oldest] = ['a', 'b', 'c'].map((text) => scene.write(scene.agent.id, `${text}\n\n${marker}`));
    scene.gitlab.fail({ match: { method: 'DELETE', times: 1 }, with: fault });
    const notes = scene.createNotes();

    const settled = notes.ensureAnalysis(scene.analysis('New'));

    if (fault === 'reset') await expect(settled).rejects.toThrow(RetryableError);
    else await settled;
    expect(await notes.ensureAnalysis(scene.analysis('New'))).toMatchObject({ noteId: oldest?.id });
    expect(scene.notes().map(({ id }) => id)).toEqual([oldest?.id]);
  },
);

test("a marker that a person copied from the agent's note is only text", async () => {
  await using scene = await createScene();
  const copied = scene.markers.write({ kind: 'analysis', sessionId: 's-9', ...scene.place });
  const theirs = scene.write(scene.nadia.id, `Mine now!\n\n${copied}`);

  const made = await scene.createNotes().ensureAnalysis(scene.analysis('The real one'));

  expect(made.outcome).toBe('created');
  expect(scene.notes().map(({ id }) => id)).toEqual([theirs.id, made.noteId]);
});

test('a marker of another merge request is not believed, even in a note by the agent', async () => {
  await using scene = await createScene();
  const elsewhere = scene.addMr('elsewhere');
  const foreign = { projectId: scene.project.id, mrIid: elsewhere.iid };
  scene.write(
    scene.agent.id,
    `Moved\n\n${scene.markers.write({ kind: 'analysis', sessionId: 's-9', ...foreign })}`,
  );

  expect(await scene.createNotes().ensureAnalysis(scene.analysis('Here'))).toMatchObject({
    outcome: 'created',
  });

  expect(scene.notes()).toHaveLength(2);
});

test('a marker in the text itself is taken out before it is posted', async () => {
  await using scene = await createScene();
  const forged = scene.markers.write({ kind: 'analysis', sessionId: 's-9', ...scene.place });

  await scene.createNotes().ensureAnalysis(scene.analysis(`Look: ${forged}\n\n${forged}`));

  expect(scene.notes()[0]?.body.match(/<!--/g)).toHaveLength(1);
  expect(markerOf(scene)).toMatchObject({ sessionId: 's-1' });
});

test('after a change of keys the note is found and signed anew', async () => {
  await using scene = await createScene();
  const [oldKey, newKey] = [randomBytes(32), randomBytes(32)];
  const made = await scene.createNotes(createMarkers([oldKey])).ensureAnalysis(scene.analysis('Same'));

  const rotated = await scene
    .createNotes(createMarkers([newKey, oldKey]))
    .ensureAnalysis(scene.analysis('Same'));
  const later = await scene.createNotes(createMarkers([newKey])).ensureAnalysis(scene.analysis('Same'));

  expect(rotated).toEqual({ ...made, outcome: 'edited' });
  expect(later).toEqual({ ...made, outcome: 'unchanged' });
});

test('the note is found among many', async () => {
  await using scene = await createScene();
  const chat = (from: number, to: number) => {
    for (let at = from; at < to; at += 1) scene.write(scene.nadia.id, `Note ${at}`);
  };
  chat(0, 125);
  const made = await scene.createNotes().ensureAnalysis(scene.analysis('In the middle'));
  chat(125, 250);

  const again = await scene.createNotes().ensureAnalysis(scene.analysis('In the middle'));

  expect(again).toEqual({ ...made, outcome: 'unchanged' });
  expect(scene.notes()).toHaveLength(251);
});

test('a lookup that fails is no reason to post', async () => {
  await using scene = await createScene();
  const notes = scene.createNotes();
  scene.gitlab.fail({ match: { method: 'GET', path: '/discussions' }, with: { status: 500 } });

  await expect(notes.ensureAnalysis(scene.analysis('Hello'))).rejects.toThrow(RetryableError);

  expect(scene.writes()).toEqual([]);
});

test('a failure on a later page is no reason to post either', async () => {
  await using scene = await createScene();
  await scene.createNotes().ensureAnalysis(scene.analysis('First'));
  for (let at = 0; at < 120; at += 1) scene.write(scene.nadia.id, `Note ${at}`);
  const { requests } = scene.gitlab;
  const before = requests.length;
  const notes = scene.createNotes();
  // The first page answers, the second never does.
  const fault = { match: { method: 'GET', path: '/discussions', times: 1 }, with: { delayMs: 0 } } as const;
  scene.gitlab.fail(fault);
  scene.gitlab.fail({ match: { method: 'GET', path: '/discussions' }, with: { status: 503 } });

  await expect(notes.ensureAnalysis(scene.analysis('Second'))).rejects.toThrow(RetryableError);

  expect(requests.slice(before).every(({ method }) => method === 'GET')).toBe(true);
});

test('an aborted run posts nothing', async () => {
  await using scene = await createScene();
  const reason = new Error('stopped');
  const analysis = { ...scene.analysis('Hello'), signal: AbortSignal.abort(reason) };

  await expect(scene.createNotes().ensureAnalysis(analysis)).rejects.toBe(reason);

  expect(scene.writes()).toEqual([]);
});

test('one who was told to stop while it posts sees to it that there is one note, that of who came after it', async () => {
  await using scene = await createScene();
  const notes = scene.createNotes();
  scene.gitlab.fail({ match: { method: 'POST', times: 1 }, with: { delayMs: 300 } });
  const run = new AbortController();
  const late = notes
    .ensureAnalysis({ ...scene.analysis('Late'), signal: run.signal })
    .catch((error: Error) => error.message);
  await expect.poll(scene.writes).toEqual(['POST']);
  run.abort(new Error('the lock was lost'));

  const made = await notes.ensureAnalysis(scene.analysis('New'));

  expect(await late).toBe('the lock was lost');
  const posts = () => scene.gitlab.requests.filter(({ method }) => method === 'POST');
  await expect.poll(() => posts().map(({ status }) => status)).toEqual([201, 201]);
  expect(scene.notes()).toMatchObject([{ id: made.noteId, body: expect.stringContaining('New') }]);
});

test('there is no note without a text', async () => {
  await using scene = await createScene();

  await expect(scene.createNotes().ensureAnalysis(scene.analysis(' \n<!-- x -->'))).rejects.toThrow(
    /no text/,
  );

  expect(scene.writes()).toEqual([]);
});

function markerOf(scene: Scene) {
  return scene.markers.read(scene.notes()[0]?.body ?? '', scene.place);
}
