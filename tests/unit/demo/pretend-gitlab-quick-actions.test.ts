import { expect, test } from 'vitest';
import { createScene, type Scene } from './scene.ts';

test('a quick action is carried out and its line vanishes from the note', async () => {
  await using scene = await createScene();

  const answer = await post(scene, 'Enough of this.\n/close\nBye.');

  expect(answer).toMatchObject({
    status: 201,
    body: { body: 'Enough of this.\nBye.', commands_changes: { state_event: 'close' } },
  });
  expect(scene.mr.state).toBe('closed');
  expect(scene.gitlab.executedQuickActions).toEqual([
    {
      command: 'close',
      argument: '',
      userId: scene.bot.id,
      projectId: scene.project.id,
      iid: scene.mr.iid,
      applied: true,
    },
  ]);
});

test('a note of only quick actions is not saved', async () => {
  await using scene = await createScene();

  const answer = await post(scene, '/title Better\n/label ~bug ~"needs work"\n/LOCK');

  expect(answer.status).toBe(202);
  expect(answer.body).toEqual({
    commands_changes: { title: 'Better', labels: ['bug', 'needs work'], discussion_locked: true },
    summary: [expect.stringContaining('Changed the title to "Better".')],
  });
  expect(scene.mr).toMatchObject({ title: 'Better', labels: ['bug', 'needs work'], discussionLocked: true });
  expect(scene.gitlab.notes(scene.mr.projectId, scene.mr.iid)).toEqual([]);
});

test('a quick action that an edit brings in is carried out too', async () => {
  await using scene = await createScene();
  const { body } = await post<{ id: number }>(scene, 'Analysis follows.');

  await scene.call(`${scene.mrPath}/notes/${body.id}`, {
    method: 'PUT',
    body: { body: 'Here it is.\n\n/merge\n' },
  });

  expect(scene.mr.state).toBe('merged');
  expect(scene.gitlab.notes(scene.mr.projectId, scene.mr.iid)).toMatchObject([{ body: 'Here it is.' }]);
});

test.each([
  ['a fenced block', 'Log:\n```\n/close\n```'],
  ['a longer fence around a shorter one', '````\n```\n/close\n```\n````'],
  ['a fence that never ends', '~~~\n/close'],
  ['an indented block', 'Log:\n\n    /close'],
  ['inline code over several lines', 'Run `\n/close\n` now'],
  ['a quote', '> /close'],
  ["a quote's last paragraph", '> said\n/close'],
  ['a quote block', '>>>\n/close\n>>>'],
  ['a list item', '- /close'],
  ["a list item's paragraph", '- item\n/close'],
  ['an HTML comment', '<!--\n/close\n-->'],
  ['an HTML block', '<div>\n/close\n</div>'],
  ['a folded section', '<details><summary>Log</summary>\n\n/close\n\n</details>'],
  ['a table', '| a | b |\n|---|---|\n/close'],
  ['a heading by underline', '/close\n---'],
  ['the middle of a line', 'Please /close it'],
  ['an indented line', 'Text\n  /close'],
  ['an unknown command', '/usr/bin/env: not found'],
  ['a command with something attached', '/closes'],
  ['an escape', '\\/close'],
])('a slash in %s is only text', async (_where, text) => {
  await using scene = await createScene();

  const answer = await post<{ body: string }>(scene, text);

  expect(answer.status).toBe(201);
  expect(answer.body.body).toBe(text);
  expect(scene.mr.state).toBe('opened');
  expect(scene.gitlab.executedQuickActions).toEqual([]);
});

test.each([
  ['a finished fence', '```\nlog\n```\n/close'],
  ['a comment', '<!-- marker -->\n/close'],
  ['a finished list', '- item\n\n/close'],
  ['a quoted fence', '> ```\n/close'],
  ['a finished section', '<details>\n\nlog\n\n</details>\n\n/close'],
  ['a heading', '# Title\n/close'],
  ['text with Windows line ends', 'Text\r\n/close\r\n'],
])('after %s a quick action is one again', async (_what, text) => {
  await using scene = await createScene();

  await post(scene, text);

  expect(scene.mr.state).toBe('closed');
});

test('somebody without the right runs nothing, and still loses the line', async () => {
  await using scene = await createScene();
  scene.gitlab.setMember(scene.project.id, scene.bot.id, 20);

  const answer = await post(scene, 'Now!\n/merge');

  expect(answer.body).toMatchObject({ body: 'Now!' });
  expect(scene.mr.state).toBe('opened');
  expect(scene.gitlab.executedQuickActions).toMatchObject([{ command: 'merge', applied: false }]);
});

test('names notify their users, outside of code and quotes', async () => {
  await using scene = await createScene();
  const erin = scene.gitlab.addUser({ username: 'erin.k' });

  await post(
    scene,
    '`@dora` \\@dora mail@dora https://x.test/@dora\n\n> @dora\n\n```\n@dora\n```\n- `@dora`',
  );
  expect(scene.gitlab.mentions).toEqual([]);

  const { body } = await post<{ id: number }>(scene, 'Ask &#64;dora and @erin.k.\n- or @nobody');
  expect(scene.gitlab.mentions).toEqual([
    { userId: scene.dora.id, byUserId: scene.bot.id, noteId: body.id, via: 'create' },
    { userId: erin.id, byUserId: scene.bot.id, noteId: body.id, via: 'create' },
  ]);
});

test('an edit notifies only those whom the note did not name before', async () => {
  await using scene = await createScene();
  const erin = scene.gitlab.addUser({ username: 'erin' });
  const { body } = await post<{ id: number }>(scene, 'Hello @dora');

  scene.gitlab.editNote(body.id, 'Hello @dora and @erin');

  expect(scene.gitlab.mentions).toMatchObject([
    { userId: scene.dora.id, via: 'create' },
    { userId: erin.id, via: 'edit' },
  ]);
});

test('@all names every member', async () => {
  await using scene = await createScene();
  scene.gitlab.addUser({ username: 'stranger' });

  await post(scene, 'Hear, @all');

  expect(scene.gitlab.mentions.map((mention) => mention.userId)).toEqual([scene.dora.id, scene.bot.id]);
});

test('closing words are noticed outside of code', async () => {
  await using scene = await createScene();

  await post(scene, 'This `closes #1`.\n\n```\nFixes #2\n```');
  expect(scene.gitlab.closingReferences).toEqual([]);

  await post(scene, 'This Closes #3 and resolves group/other#4.');
  expect(scene.gitlab.closingReferences.map((reference) => reference.text)).toEqual([
    'Closes #3',
    'resolves group/other#4',
  ]);
});

function post<T = unknown>(scene: Scene, body: string) {
  return scene.call<T>(`${scene.mrPath}/notes`, { method: 'POST', body: { body } });
}
