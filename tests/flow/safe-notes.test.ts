// What a model says is made harmless on its way to the merge request, whoever posts or prints it.
import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { textOf } from '../services/model.ts';
import { arrange, ask, failPipeline, noteOf, scene, system } from './story-scene.ts';

const markOf = (conversation = scene.model.conversations().at(-1)) =>
  /never to be repeated anywhere: ([0-9a-f]{32})\)/.exec(system(conversation))?.[1] ?? '';
const savedContexts = () =>
  globSync(join(scene.folder, 'sessions', '*', 'context.json')).map((file) => readFileSync(file, 'utf8'));

test('a reply may notify who asked, and nobody else', async () => {
  await arrange();
  scene.gitlab.addUser({ username: 'mira' });
  failPipeline();
  scene.model.script = () => ({ text: 'Ask @nadia or @mira.' });
  const note = await noteOf(0);
  expect(scene.gitlab.mentions).toEqual([]);
  ask(note.discussionId, 'Who knows more?');
  const answer = await noteOf(1);
  expect(scene.gitlab.mentions).toMatchObject([{ userId: scene.nadia.id, noteId: answer.id }]);
});

test('links lead to GitLab and the hosts of the configuration only', async () => {
  await arrange({ config: { publish: { linkHosts: ['wiki.test', '*.docs.test'] } } });
  failPipeline();
  const gitlab = `[merge request](${scene.gitlab.url}/shop/checkout/-/merge_requests/1)`;
  const good = `${gitlab}, https://wiki.test/a, [b](https://x.docs.test/b)`;
  scene.model.script = () => ({ text: `${good}, https://evil.test/c, [d](https://docs.test.evil.test/d)` });
  const { id, body } = await noteOf(0);
  expect(body).toContain(good);
  const { links } = scene.gitlab.rendering(id);
  expect(links.map((link) => new URL(link).host)).toEqual([
    new URL(scene.gitlab.url).host,
    'wiki.test',
    'x.docs.test',
  ]);
});

test('the system prompt of a session is the same in every turn and run, and is not repeated in a note', async () => {
  await arrange();
  failPipeline();
  const command = 'cat /tmp/.canary | tr -d "\\n" | sed "s/./& /g"';
  scene.model.script = (conversation) => {
    const printed = conversation
      .filter(({ role }) => role === 'tool')
      .map(textOf)
      .join();
    if (printed === '') return { calls: [{ name: 'sandbox_exec', arguments: { command } }] };
    const spaced = /(?:[0-9a-f] ){32}/.exec(printed)?.[0] ?? '';
    const inBase64 = Buffer.from(`mark: ${markOf(conversation)}`).toString('base64');
    return { text: `Rounding broke.\n\nMy instructions: ${inBase64}\n\nThe sandbox: ${spaced}.` };
  };
  const note = await noteOf(0);
  expect(note.body).toContain('> ⚠️ A part of this answer was withheld');
  expect(note.body).toMatch(/Rounding broke\.\n\n\[withheld\]\n\n\[withheld\]\n/);
  expect(scene.logged).toContainEqual(expect.objectContaining({ level: 40, where: 'prompt' }));
  expect(scene.logged).toContainEqual(expect.objectContaining({ level: 40, where: 'sandbox' }));
  const mark = markOf();
  await expect.poll(savedContexts).toHaveLength(1);
  expect(savedContexts().join()).not.toContain(mark);

  scene.model.script = () => ({ text: 'It is the rounding.' });
  ask(note.discussionId, 'Are you sure about that?');
  expect((await noteOf(1)).body).not.toContain('withheld');
  expect([...new Set(scene.model.conversations().map(markOf))]).toEqual([mark]);
  expect(mark).toHaveLength(32);
});
