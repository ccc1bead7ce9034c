import { expect, test } from 'vitest';
import { createScene } from './scene.ts';

async function createRepository() {
  const scene = await createScene();
  const projectId = scene.project.id;
  const add = (ref: string, path: string, content: string) =>
    scene.gitlab.addFile({ projectId, ref, path, content });
  add('main', 'README.md', 'Read me\n');
  add('main', 'src/a.ts', 'one\ntwo\nthree\n');
  add('main', 'src/deep/b.ts', 'b\n');
  add('cache', 'src/new.ts', 'new\n');
  return { ...scene, add, at: (path: string) => `/projects/${projectId}${path}` };
}

test('a tree has folders first, at the top, in a folder or all the way down', async () => {
  await using scene = await createRepository();
  const list = async (query: string) => {
    const { body } = await scene.call<{ path: string; type: string }[]>(scene.at(`/repository/tree${query}`));
    return body.map(({ path, type }) => `${type} ${path}`);
  };

  expect(await list('')).toEqual(['tree src', 'blob README.md']);
  expect(await list('?path=src&ref=cache')).toEqual(['tree src/deep', 'blob src/a.ts', 'blob src/new.ts']);
  expect(await list('?recursive=true')).toEqual([
    'tree src',
    'tree src/deep',
    'blob README.md',
    'blob src/a.ts',
    'blob src/deep/b.ts',
  ]);
  expect((await scene.call(scene.at('/repository/tree?path=nope'))).status).toBe(404);
  expect((await scene.call(scene.at('/repository/tree?ref=nope'))).body).toEqual({
    message: '404 Tree Not Found',
  });
});

test('a tree is followed by token, without numbers of pages', async () => {
  await using scene = await createRepository();
  const first = await scene.call<{ path: string }[]>(
    scene.at('/repository/tree?recursive=true&pagination=keyset&per_page=3'),
  );
  const next = /<([^>]+)>; rel="next"/.exec(first.headers.get('link') ?? '')?.[1] ?? '';
  const second = await scene.call<{ path: string }[]>(next);

  expect(first.body).toHaveLength(3);
  expect(second.body.map(({ path }) => path)).toEqual(['src/a.ts', 'src/deep/b.ts']);
  expect(second.headers.get('link')).toBeNull();
  expect(first.headers.get('x-total')).toBeNull();
});

test('blame groups lines by commit and knows ranges', async () => {
  await using scene = await createRepository();
  const { sha } = scene.gitlab.pushCommit(scene.mr, { message: 'Change' });
  scene.gitlab.addFile({
    projectId: scene.project.id,
    ref: 'cache',
    path: 'src/a.ts',
    content: 'one\ntwo\n3\n',
    blame: [{ sha: scene.mr.baseSha, lines: 2 }],
  });
  const path = scene.at('/repository/files/src%2Fa.ts/blame');

  expect((await scene.call(`${path}?ref=cache`)).body).toMatchObject([
    { commit: { id: scene.mr.baseSha }, lines: ['one', 'two'] },
    { commit: { id: sha, message: 'Change' }, lines: ['3'] },
  ]);
  expect((await scene.call(`${path}?ref=cache&range[start]=2&range[end]=2`)).body).toMatchObject([
    { lines: ['two'] },
  ]);
  expect((await scene.call(path)).body).toEqual({ error: 'ref is missing' });
  expect((await scene.call(`${path}?ref=cache&range[start]=3&range[end]=2`)).status).toBe(400);
});

test('search finds words in the default branch, with the lines around', async () => {
  await using scene = await createRepository();

  const { body } = await scene.call(scene.at('/search?scope=blobs&search=TWO'));

  expect(body).toEqual([
    {
      basename: 'src/a',
      data: 'one\ntwo\nthree\n\n',
      path: 'src/a.ts',
      filename: 'src/a.ts',
      id: null,
      ref: 'main',
      startline: 1,
      project_id: scene.project.id,
    },
  ]);
  expect((await scene.call(scene.at('/search?scope=blobs'))).body).toEqual({ error: 'search is missing' });
  expect((await scene.call(scene.at('/search?scope=users&search=x'))).status).toBe(400);
});

test('lint merges what is included, and says what is wrong', async () => {
  await using scene = await createRepository();
  const lint = async (ref: string) => (await scene.call(scene.at(`/ci/lint?content_ref=${ref}`))).body;

  expect(await lint('main')).toMatchObject({
    valid: false,
    errors: ['Please provide content of .gitlab-ci.yml'],
  });
  scene.add('main', '.gitlab-ci.yml', 'include: ci/unit.yml\nlint: { script: x }\n');
  expect(await lint('main')).toMatchObject({
    valid: false,
    errors: [expect.stringContaining('does not exist')],
  });
  scene.add('main', 'ci/unit.yml', 'unit: { script: y }\n');
  expect(await lint('main')).toMatchObject({
    valid: true,
    errors: [],
    merged_yaml: '---\nunit:\n  script: y\nlint:\n  script: x\n',
    includes: [{ type: 'local', location: 'ci/unit.yml' }],
  });
  expect(await lint('nope')).toEqual({ message: '404 Commit Not Found' });
});

test('a comment on the diff has its place', async () => {
  await using scene = await createRepository();
  const { projectId, iid } = scene.mr;
  const position = { path: 'src/a.ts', line: 2 };
  scene.gitlab.addNote({ projectId, iid, userId: scene.dora.id, body: 'Why?', position });

  expect((await scene.call(`${scene.mrPath}/discussions`)).body).toMatchObject([
    {
      individual_note: false,
      notes: [{ type: 'DiffNote', resolvable: true, position: { new_path: 'src/a.ts', new_line: 2 } }],
    },
  ]);
});
