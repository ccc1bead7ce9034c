import { expect, test } from 'vitest';
import { createSourceScene } from './gitlab-scene.ts';

async function createRepository(files: Record<string, string>) {
  const scene = await createSourceScene();
  const add = (ref: string, path: string, content: string) =>
    scene.gitlab.addFile({ projectId: scene.project.id, ref, path, content });
  for (const [path, content] of Object.entries(files)) add('main', path, content);
  return { ...scene, add };
}

test("a file is read at the merge request's head, or at a ref", async () => {
  const scene = await createRepository({ 'src/größe.ts': 'export const größe = 1;\n' });
  scene.add('cache', 'src/größe.ts', 'export const größe = 2; // 🐦\n');

  expect(await scene.ask('gitlab_get_file', { path: 'src/größe.ts' })).toBe(
    'export const größe = 2; // 🐦\n',
  );
  expect(await scene.ask('gitlab_get_file', { path: './src/größe.ts', ref: 'main' })).toBe(
    'export const größe = 1;\n',
  );
});

test.each(['..', '../../../user', 'a/../b', '/etc/passwd', '%2e%2e/x', 'a\u0000b'])(
  'the path %j leads nowhere else',
  async (path) => {
    const scene = await createRepository({ 'README.md': 'hello' });

    expect(await scene.call('gitlab_get_file', { path, ref: 'main' })).toMatchObject({ isError: true });
    for (const request of scene.gitlab.requests) {
      expect(request.path).toMatch(/^\/api\/v4\/projects\/\d+\/repository\/files\/[^/]+\/raw$/);
    }
  },
);

test.each(['gitlab_get_file', 'gitlab_list_directory', 'gitlab_get_blame'])(
  '%s asks nobody for a path with dots in it',
  async (tool) => {
    const scene = await createRepository({ 'README.md': 'hello' });

    for (const path of ['..', 'a/..', 'a/./b', './../b', '../../../../2/repository/files/x']) {
      const { result } = await scene.call(tool, { path, ref: 'main' });
      expect(result.error).toContain('has . or .. in it');
    }
    expect(scene.gitlab.requests).toEqual([]);
  },
);

test('a folder is listed, a whole repository page by page', async () => {
  const many = Object.fromEntries(Array.from({ length: 230 }, (_, index) => [`docs/${index}.md`, 'x']));
  const scene = await createRepository({ 'README.md': 'x', 'src/a/b.ts': 'x', 'src/c.ts': 'x', ...many });

  expect(await scene.ask('gitlab_list_directory')).toMatchObject({ entries: ['docs/', 'src/', 'README.md'] });
  expect(await scene.ask('gitlab_list_directory', { path: 'src/', ref: 'main' })).toEqual({
    ref: 'main',
    entries: ['src/a/', 'src/c.ts'],
  });
  const all = await scene.ask<{ entries: string[] }>('gitlab_list_directory', { recursive: true });
  expect(all.entries).toHaveLength(233 + 3);
  expect(all).not.toHaveProperty('note');
});

test('reading a folder stops after 1000 entries and says so', async () => {
  const many = Object.fromEntries(Array.from({ length: 1_010 }, (_, index) => [`docs/${index}.md`, 'x']));
  const scene = await createRepository(many);

  const answer = await scene.ask<{ entries: string[]; note: string }>('gitlab_list_directory', {
    path: 'docs',
  });

  expect(answer.entries).toHaveLength(1_000);
  expect(answer.note).toMatch(/Only the first 1000 entries/);
});

test('a folder that is not there is not there, and no gap', async () => {
  const scene = await createRepository({ 'README.md': 'x' });

  const { result, isError } = await scene.call('gitlab_list_directory', { path: 'nowhere' });

  expect(isError).toBe(true);
  expect(result.error).toMatch(/404/);
});

test('blame tells who last changed each line of a range, with its number', async () => {
  const scene = await createSourceScene({ mr: { commits: [{ message: 'Round half up' }] } });
  const { sha } = scene;
  scene.gitlab.addFile({
    projectId: scene.project.id,
    ref: 'topic',
    path: 'price.ts',
    content: 'one\ntwo\nthree\nfour\n',
    blame: [{ sha: scene.mr.baseSha, lines: 2 }],
  });

  const answer = await scene.ask('gitlab_get_blame', { path: 'price.ts', first_line: 2, last_line: 3 });

  expect(answer).toMatchObject({
    path: 'price.ts',
    ref: sha,
    parts: [
      { lines: ['2: two'], sha: scene.mr.baseSha, title: 'Initial commit' },
      { lines: ['3: three'], sha, title: 'Round half up', author: 'Dora' },
    ],
  });
});

test.each([
  [5, 4, 'is before first_line'],
  [1, 501, 'too many lines, ask for 500'],
])('a range from %i to %i is refused with the reason', async (first_line, last_line, reason) => {
  const scene = await createRepository({ 'a.ts': 'x' });

  const { result } = await scene.call('gitlab_get_blame', { path: 'a.ts', first_line, last_line });

  expect(result.error).toContain(reason);
  expect(scene.gitlab.requests).toEqual([]);
});

test('code is searched, with the lines around each place', async () => {
  const scene = await createRepository({
    'src/cart.ts': 'import x;\n\nfunction roundPrice(a) {\n  return a;\n}\n',
    'src/other.ts': 'nothing\n',
  });

  expect(await scene.ask('gitlab_search_code', { query: 'roundprice' })).toEqual({
    found: [
      {
        path: 'src/cart.ts',
        first_line: 1,
        ref: 'main',
        text: 'import x;\n\nfunction roundPrice(a) {\n  return a;\n}\n',
      },
    ],
  });
});

test('a search for what is everywhere stops, and says what to do', async () => {
  const scene = await createRepository({ 'a.txt': 'the same\n'.repeat(300) });

  const answer = await scene.ask<{ found: unknown[]; note: string }>('gitlab_search_code', { query: 'same' });

  expect(answer.found).toHaveLength(200);
  expect(answer.note).toMatch(/search for something rarer/);
});

test('two refs are compared: commits and diff, or one file of it whole', async () => {
  const lines = Array.from({ length: 3_000 }, (_, index) => `+line ${index}`).join('\n');
  const scene = await createSourceScene({
    mr: {
      commits: [
        { message: 'Change a', diffs: [{ path: 'src/a.ts', diff: '@@ -1 +1 @@\n-a\n+b\n' }] },
        {
          message: 'Add a lock',
          diffs: [{ path: 'lock.json', change: 'new', diff: `@@ -0,0 +1 @@\n${lines}\n` }],
        },
      ],
    },
  });

  const all = await scene.ask<string>('gitlab_compare_refs', { from: 'main', to: scene.sha });
  const part = await scene.ask<string>('gitlab_compare_refs', {
    from: 'main',
    to: scene.sha,
    path: 'lock.json',
  });

  expect(all).toMatch(/^2 commits, newest last; 2 of 2 changed files:\n[0-9a-f]{12} Change a \(Dora\)\n/);
  expect(all).toContain('+++ b/src/a.ts\n@@ -1 +1 @@\n-a\n+b\n');
  expect(all).toContain('call gitlab_compare_refs with path "lock.json" for all of it');
  expect(part).toContain('1 of 2 changed files');
  expect(part).toContain('+line 2999');
});

test.each(['--upload-pack=x', 'a b', 'main~1', 'a:b', ''])('%j is not taken for a ref', async (from) => {
  const scene = await createSourceScene();

  const compared = await scene.call('gitlab_compare_refs', { from, to: 'main' });
  const searched = await scene.call('gitlab_search_code', { query: 'price', ref: from });

  expect(compared.result.error).toContain('wrong arguments');
  expect(searched.result.error).toContain('wrong arguments');
  expect(scene.gitlab.requests).toEqual([]);
});

test("the CI configuration comes merged, as it is at the merge request's head", async () => {
  const scene = await createRepository({ 'ci/unit.yml': 'unit:\n  script: npm test\n' });
  scene.add('cache', '.gitlab-ci.yml', 'include:\n  - local: /ci/unit.yml\nlint:\n  script: npm run lint\n');

  const text = await scene.ask<string>('gitlab_get_ci_config');

  expect(text).toBe(
    `# valid at ${scene.sha}\n# includes local: /ci/unit.yml\n---\nunit:\n  script: npm test\nlint:\n  script: npm run lint\n\n`,
  );
});

test('a configuration that is wrong says so first', async () => {
  const scene = await createRepository({ '.gitlab-ci.yml': 'include: /gone.yml\n' });

  expect(await scene.ask('gitlab_get_ci_config')).toMatch(
    /^# NOT VALID at [0-9a-f]+\n# error: Local file `\/gone\.yml` does not exist!\n/,
  );
});
