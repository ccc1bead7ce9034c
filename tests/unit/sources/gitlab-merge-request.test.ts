import { describe, expect, test } from 'vitest';
import { createGitlabSource } from '../../../src/sources/gitlab/source.ts';
import { createToolbox } from '../../services/redactor.ts';
import { answerJson, createClient, startServer } from '../gitlab/gitlab-server.ts';
import { call } from '../tools/calling.ts';
import { createMemorySandbox } from '../tools/memory-sandbox.ts';
import { createSourceScene } from './gitlab-scene.ts';

test('the details are those of the pinned merge request, with its head pipeline', async () => {
  const scene = await createSourceScene({
    mr: {
      title: 'Draft: Round prices half up',
      description: 'Because 0.5 cent counts.',
      labels: ['money', 'bug'],
      commits: [{ diffs: [{ path: 'price.ts', diff: '@@ -1 +1 @@\n-a\n+b\n' }] }],
    },
  });
  const pipeline = scene.gitlab.addPipeline({
    mergeRequest: scene.mr,
    jobs: [{ name: 'unit', status: 'failed' }],
  });

  expect(await scene.ask('gitlab_get_mr_details')).toEqual({
    iid: scene.mr.iid,
    title: 'Draft: Round prices half up',
    description: 'Because 0.5 cent counts.',
    state: 'opened',
    author: 'Dora (dora)',
    source_branch: 'topic',
    target_branch: 'main',
    from_fork: false,
    sha: scene.sha,
    labels: ['bug', 'money'],
    draft: true,
    head_pipeline: {
      id: pipeline.id,
      status: 'failed',
      sha: scene.sha,
      web_url: `${scene.gitlab.url}/group/project/-/pipelines/${pipeline.id}`,
    },
    changed_files: '1',
    web_url: `${scene.gitlab.url}/group/project/-/merge_requests/${scene.mr.iid}`,
  });
});

describe('after a push in the middle of the job', () => {
  const DIFF = { path: 'price.ts', diff: '@@ -1 +1 @@\n-a\n+b\n' };

  async function pushMeanwhile() {
    const scene = await createSourceScene({ mr: { commits: [{ diffs: [DIFF] }] } });
    scene.gitlab.addFile({ projectId: scene.project.id, ref: scene.sha, path: 'a.txt', content: 'then' });
    const { sha: head } = scene.gitlab.pushCommit(scene.mr);
    scene.gitlab.addFile({ projectId: scene.project.id, ref: head, path: 'a.txt', content: 'now' });
    const words = `The merge request's head is ${head} by now; this job is about ${scene.sha}.`;
    return { scene, head, words };
  }

  test('what can be read of a commit is read of the one the job is about', async () => {
    const { scene } = await pushMeanwhile();

    expect(await scene.ask('gitlab_get_file', { path: 'a.txt' })).toBe('then');
    expect(await scene.ask('gitlab_list_commit_statuses')).toMatchObject({ sha: scene.sha });
    expect(await scene.ask('gitlab_list_directory')).toMatchObject({ ref: scene.sha });
  });

  test('what GitLab knows only of the newer head says so', async () => {
    const { scene, head, words } = await pushMeanwhile();

    const details = await scene.ask('gitlab_get_mr_details');
    const commits = await scene.ask('gitlab_list_commits');
    const diff = await scene.ask<string>('gitlab_get_mr_diff');

    expect(details).toMatchObject({
      sha: scene.sha,
      head_sha: head,
      note: expect.stringContaining(words),
    });
    expect(commits).toMatchObject({ moved: expect.stringContaining(words) });
    expect(diff).toContain(`[${words}`);
  });
});

test('a merge request without a pipeline has none, and says so', async () => {
  const scene = await createSourceScene();

  expect(await scene.ask('gitlab_get_mr_details')).toMatchObject({ head_pipeline: null, draft: false });
});

test('a description longer than 4000 characters is cut between characters, and says how much is gone', async () => {
  const scene = await createSourceScene({ mr: { description: `${'x'.repeat(3999)}${'🐦'.repeat(50)}` } });

  const { description } = await scene.ask<{ description: string }>('gitlab_get_mr_details');

  expect(description).toMatch(/^x{3999}\n\[… 100 more characters/);
});

test('where a description is cut there is no part of a secret', async () => {
  const secret = `gl${'pat'}-aB3xK9mQ2vR7tL5wN8pD`;
  const scene = await createSourceScene({
    mr: { description: `${'x '.repeat(1_995)}${secret} was printed` },
  });

  const { description } = await scene.ask<{ description: string }>('gitlab_get_mr_details');

  expect(description).toMatch(/x\n\[… 39 more characters/);
});

test('the diff shows every file as git would, whatever happened to it', async () => {
  const scene = await createSourceScene({
    mr: {
      commits: [
        {
          diffs: [
            { path: 'changed.ts', diff: '@@ -1 +1 @@\n-a\n+b\n' },
            { path: 'added.ts', change: 'new', diff: '@@ -0,0 +1 @@\n+new\n' },
            { path: 'removed.ts', change: 'deleted', diff: '@@ -1 +0,0 @@\n-old\n' },
            { path: 'after.ts', oldPath: 'before.ts', change: 'renamed', diff: '' },
          ],
        },
      ],
    },
  });

  expect(await scene.ask('gitlab_get_mr_diff')).toBe(`diff --git a/changed.ts b/changed.ts
--- a/changed.ts
+++ b/changed.ts
@@ -1 +1 @@
-a
+b
diff --git a/added.ts b/added.ts
new file
--- /dev/null
+++ b/added.ts
@@ -0,0 +1 @@
+new
diff --git a/removed.ts b/removed.ts
deleted file
--- a/removed.ts
+++ /dev/null
@@ -1 +0,0 @@
-old
diff --git a/before.ts b/after.ts
rename from before.ts
rename to after.ts
--- a/before.ts
+++ b/after.ts
[no lines changed, or a binary file]
`);
});

test('a large file is cut at a line and says how to get all of it; asked for by its path it is whole', async () => {
  const lines = Array.from({ length: 5000 }, (_, index) => `+"package-${index}": "1.0.0"`).join('\n');
  const lock = `@@ -0,0 +1,5000 @@\n${lines}\n`;
  const scene = await createSourceScene({
    mr: {
      commits: [
        {
          diffs: [
            { path: 'lock.json', diff: lock },
            { path: 'src/app.ts', diff: '@@ -1 +1 @@\n-a\n+b\n' },
          ],
        },
      ],
    },
  });

  const all = await scene.ask<string>('gitlab_get_mr_diff');
  expect(all.length).toBeLessThan(21_000);
  expect(all).toMatch(/"1\.0\.0"\n\[… \d+ more characters .* with path "lock\.json" for all of it\]\n/);
  expect(all).toMatch(/\+\+\+ b\/src\/app\.ts\n@@ -1 \+1 @@\n-a\n\+b\n$/);
  const leftOut = Number(/(\d+) more characters/.exec(all)?.[1]);
  const kept = all.slice(all.indexOf('@@'), all.indexOf('\n[…'));
  expect(leftOut).toBe(lock.trimEnd().length - kept.length);
  expect(await scene.ask('gitlab_get_mr_diff', { path: 'lock.json' })).toContain(lines);
});

test('a minified file of one line is cut too', async () => {
  const diff = `+${'x'.repeat(50_000)}`;
  const scene = await createSourceScene({ mr: { commits: [{ diffs: [{ path: 'app.min.js', diff }] }] } });

  expect(await scene.ask('gitlab_get_mr_diff')).toContain('[… 30001 more characters');
});

test('a diff of 150 files has all of them', async () => {
  const diffs = Array.from({ length: 150 }, (_, index) => ({
    path: `f${index}.ts`,
    diff: '@@ -1 +1 @@\n-a\n+b\n',
  }));
  const scene = await createSourceScene({ mr: { commits: [{ diffs }] } });

  expect((await scene.ask<string>('gitlab_get_mr_diff')).match(/^diff --git/gm)).toHaveLength(150);
});

test('a path that was not changed is answered with those that were', async () => {
  const scene = await createSourceScene({
    mr: { commits: [{ diffs: [{ path: 'src/app.ts', diff: '+x' }] }] },
  });

  const { result, isError } = await scene.call('gitlab_get_mr_diff', { path: 'app.ts' });

  expect(isError).toBe(true);
  expect(result.error).toMatch(/app\.ts is not among the 1 changed files: src\/app\.ts/);
});

test('a path that is not among the first thousand files may be among the rest, and is no gap', async () => {
  const diffs = Array.from({ length: 1_100 }, (_, index) => ({ path: `src/${index}.ts`, diff: '+x' }));
  const scene = await createSourceScene({ mr: { commits: [{ diffs }] } });
  const toolbox = createToolbox({ sandbox: scene.sandbox, sources: [scene.source] });

  const { result } = await call(toolbox, 'gitlab_get_mr_diff', { path: 'none.ts' });

  expect(result.error).toMatch(
    /among the first 1000 changed files, and more were not read: src\/0\.ts, .*, …/,
  );
  expect(toolbox.gaps()).toEqual([]);
});

test('a file whose diff GitLab keeps back is named as too large, not as unchanged', async () => {
  const file = { old_path: 'data.csv', new_path: 'data.csv', diff: '', too_large: true, collapsed: false };
  const kind = { new_file: false, renamed_file: false, deleted_file: false };
  const { url } = await startServer(({ path }, response) =>
    answerJson(response, path.endsWith('/diffs') ? [{ ...file, ...kind }] : { sha: 'a'.repeat(40) }),
  );
  const source = createGitlabSource(createClient(url), { projectId: 1, mrIid: 1, sha: 'a'.repeat(40) });
  const toolbox = createToolbox({ sandbox: createMemorySandbox(), sources: [source] });

  const { result } = await call(toolbox, 'gitlab_get_mr_diff');

  expect(result.result).toMatch(/b\/data\.csv\n\[GitLab gives no diff of this file: it is too large\]\n$/);
});
