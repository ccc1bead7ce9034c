// What a model could be made to write, judged by the pretend GitLab, which acts on it as GitLab does.
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { renderNote } from '../../../src/demo/gitlab/rendering.ts';
import { makeSafe } from '../../../src/publish/safe-text.ts';
import { texts } from './random-text.ts';
import { createScene, type Scene } from './scene.ts';

const F = '```';

const QUICK_ACTIONS = {
  alone: '/close',
  'after text': 'Done.\n/merge\nBye.',
  'in upper case': 'x\n/CLOSE',
  'with Windows line ends': 'x\r\n/close\r\n',
  'after a lone carriage return': 'x\r\n\r/close',
  'behind a control character': 'x\n\u0000/close',
  'after a finished fence': `${F}\nlog\n${F}\n/close`,
  'after a fence with a wrong end': `~~~\n${F}\n~~~\n/close`,
  'after a fence with text behind its marks': `${F}a${F}\n/close`,
  'after a comment': '<!-- marker -->\n/close',
  'after a quoted fence': '> ```\n/close',
  'after a heading': '# Title\n/close',
  'left of a fence in a list': `- item\n\n  ${F}\n/close\n  ${F}`,
  'left of a fence in a numbered list': `1. item\n\n   ${F}\n/close`,
  'left of a fence by a tab': `- item\n\n\t${F}\n/close`,
  'after a quote block that ends in a fence': `>>>\n${F}\n>>>\n/close\n${F}`,
  'after HTML that swallows a fence': `<details></details>\n${F}\n\n/close`,
  'after a tag that swallows a fence': `<br>\n${F}\n\n/close`,
  'between unmatched backticks of two paragraphs': 'a ` b\n\n/close\n\nc ` d',
} satisfies Record<string, string>;

const MENTIONS = {
  plain: 'Ask @nadia',
  'of everybody': 'Hey @all!',
  'as an entity': 'Ask &#64;nadia, &#x40;nadia, &commat;nadia',
  'in emphasis': '_@nadia_ **@nadia**',
  'in a list': '- @nadia',
  'in a heading': '# @nadia',
  'in a table': '| a |\n|---|\n| @nadia |',
  'after a lone backtick in the line before': 'a ` b\n`@nadia` c',
  'after a longer run of backticks': '`` a `@nadia',
  'after an escaped backtick': '\\`@nadia`',
  'after an escaped backslash': '\\\\`a` @nadia `',
  'in a folded section': '<details>\n<summary>@nadia</summary>\n\n@nadia\n\n</details>',
  'after a comment': 'x<!-- a -->@nadia',
  'with a comment within': '@<!-- a -->nadia @nadia',
  'left of a fence in a list': `- item\n\n  ${F}\n@nadia`,
  'after a fence in a list item that another kind of fence ends': `- ~~~\n  ${F}\n  x\n  ~~~\n  @nadia\n  ${F}`,
} satisfies Record<string, string>;

const CLOSINGS = {
  plain: 'Closes #12',
  'in other words': 'This is fixed by me; fixes: #1, resolving shop/checkout#2. Implements issue #3',
  'with a link': 'Resolve https://gitlab.test/shop/checkout/-/issues/4',
  'with an entity': 'Closes &#35;12 and fixes &num;3',
  'far away': `Closes${' '.repeat(500)}#12`,
  'with code between': 'Closes `x` #12',
  'over a comment': 'Closes <!-- x -->#12',
  'in a list': '- fix #1',
} satisfies Record<string, string>;

test.each(Object.entries(QUICK_ACTIONS))('a quick action %s is only text', async (_where, text) => {
  await using scene = await createScene();
  await post(scene, text);
  expect(scene.gitlab.executedQuickActions).toEqual([]);
  expect(scene.mr.state).toBe('opened');
});

test.each(Object.entries(MENTIONS))('a mention %s notifies nobody', async (_where, text) => {
  await using scene = await createScene();
  await post(scene, text);
  expect(scene.gitlab.mentions).toEqual([]);
});

test.each(Object.entries(CLOSINGS))('a closing word %s closes nothing', async (_where, text) => {
  await using scene = await createScene();
  await post(scene, text);
  expect(scene.gitlab.closingReferences).toEqual([]);
});

test('the pretend GitLab would have acted on most of them', async () => {
  await using scene = await createScene();
  const effects = () =>
    scene.gitlab.executedQuickActions.length +
    scene.gitlab.mentions.length +
    scene.gitlab.closingReferences.length;
  const texts = [QUICK_ACTIONS, MENTIONS, CLOSINGS].flatMap((texts) => Object.values(texts));

  const effective = texts.filter((text) => {
    const before = effects();
    // A word in front, because a note of only quick actions can not be arranged.
    scene.write(scene.agent.id, `Note\n\n${text}`);
    return effects() > before;
  });

  expect(effective.length).toBeGreaterThan(texts.length * 0.7);
});

test('whoever may be notified is notified, under that very name only', async () => {
  await using scene = await createScene();
  const names = ['nadia-k', 'nadia.k', 'nadia_', 'dora'];
  for (const username of names) scene.gitlab.addUser({ username });

  await post(scene, `@Nadia and @nadia, ${names.map((name) => `@${name}`).join(' ')} @nadia.`, ['nadia']);

  expect(scene.gitlab.mentions.map(({ userId }) => userId)).toEqual([scene.nadia.id]);
});

test('an edit is as harmless as the first text', async () => {
  await using scene = await createScene();
  await post(scene, 'Harmless');
  await post(scene, [QUICK_ACTIONS, MENTIONS, CLOSINGS].flatMap((all) => Object.values(all)).join('\n\n'));
  expect(scene.notes()).toHaveLength(1);
  expect(scene.gitlab.executedQuickActions).toEqual([]);
  expect(scene.gitlab.mentions).toEqual([]);
  expect(scene.gitlab.closingReferences).toEqual([]);
});

test('all of them in every order do no harm, alone or together', async () => {
  await using scene = await createScene();
  const texts = [QUICK_ACTIONS, MENTIONS, CLOSINGS].flatMap((all) => Object.values(all));
  for (const one of texts) {
    for (const other of texts) {
      const safe = makeSafe(`${one}\n${other}`, { maxBytes: 60_000, allowMentions: [] });
      scene.write(scene.agent.id, safe);
    }
  }
  expect(scene.gitlab.executedQuickActions).toEqual([]);
  expect(scene.gitlab.mentions).toEqual([]);
  expect(scene.gitlab.closingReferences).toEqual([]);
});

test('no random mixture does harm either', async () => {
  await using scene = await createScene();
  fc.assert(
    fc.property(texts, (text) => {
      const safe = makeSafe(text, { maxBytes: 60_000, allowMentions: [], linkHosts: ['ok.test'] });
      if (safe !== '') scene.write(scene.agent.id, safe);
      const { links, rawTags, ...others } = renderNote(safe, 'https://ok.test');
      expect(links.map((link) => new URL(link).host).filter((host) => host !== 'ok.test')).toEqual([]);
      expect(rawTags.filter((tag) => !['details', 'br'].includes(tag))).toEqual([]);
      expect(Object.values(others).flat()).toEqual([]);
      expect(scene.gitlab.executedQuickActions).toEqual([]);
      expect(scene.gitlab.mentions).toEqual([]);
      expect(scene.gitlab.closingReferences).toEqual([]);
    }),
    { numRuns: 2_000 },
  );
});

function post(scene: Scene, body: string, allowMentions: string[] = []) {
  return scene.createNotes().ensureAnalysis({ ...scene.analysis(body), allowMentions });
}
