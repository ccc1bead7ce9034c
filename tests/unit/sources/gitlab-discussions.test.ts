import { expect, test } from 'vitest';
import { createSourceScene } from './gitlab-scene.ts';

test("the merge request's commits are listed newest first, with what their messages say", async () => {
  const message = 'Mend the tests 🐦\n\nThey assumed floor().';
  const scene = await createSourceScene({ mr: { commits: [{ message: 'Round prices' }, { message }] } });

  expect(await scene.ask('gitlab_list_commits')).toEqual({
    commits: [
      {
        sha: scene.sha,
        title: 'Mend the tests 🐦',
        message,
        author: 'Dora',
        committed: expect.any(String),
        web_url: `${scene.gitlab.url}/group/project/-/commit/${scene.sha}`,
      },
      expect.objectContaining({ sha: scene.mr.commits[0], title: 'Round prices' }),
    ],
  });
});

test('commits are read page by page, and a message without end is cut', async () => {
  const commits = Array.from({ length: 130 }, (_, index) => ({ message: `Commit ${index}` }));
  const scene = await createSourceScene({
    mr: { commits: [{ message: `Long\n\n${'x'.repeat(5_000)}` }, ...commits] },
  });

  const answer = await scene.ask<{ commits: { title: string; message?: string }[] }>('gitlab_list_commits');

  expect(answer.commits).toHaveLength(131);
  expect(answer.commits.at(-1)?.message).toMatch(
    /x\n\[… 3006 more characters of the message are left out\]$/,
  );
});

test('discussions come by thread, with their place in the diff and whether they are resolved', async () => {
  const scene = await createSourceScene();
  const { projectId, iid } = scene.mr;
  const write = { projectId, iid, userId: scene.dora.id };
  scene.gitlab.addNote({ ...write, body: 'Fails since we moved to Node 24.' });
  const thread = scene.gitlab.addNote({
    ...write,
    body: 'Why 3?',
    position: { path: 'src/app.ts', line: 12 },
  });
  scene.gitlab.addNote({ ...write, body: 'Because of DST.', discussionId: thread.discussionId });

  const { discussions } = await scene.ask<{ discussions: unknown[] }>('gitlab_list_discussions');

  expect(discussions).toEqual([
    { notes: [expect.objectContaining({ author: 'dora', text: 'Fails since we moved to Node 24.' })] },
    {
      path: 'src/app.ts',
      line: 12,
      resolved: false,
      notes: [
        expect.objectContaining({ id: thread.id, text: 'Why 3?' }),
        expect.objectContaining({ text: 'Because of DST.' }),
      ],
    },
  ]);
});

test("GitLab's own notes come only when they are asked for, internal ones never", async () => {
  const scene = await createSourceScene();
  const { projectId, iid } = scene.mr;
  scene.gitlab.pushCommit(scene.mr);
  scene.gitlab.addNote({ projectId, iid, userId: scene.dora.id, body: 'the password', internal: true });
  const list = async (args: Record<string, unknown>) =>
    (await scene.ask<{ discussions: unknown[] }>('gitlab_list_discussions', args)).discussions;

  expect(await list({})).toEqual([]);
  expect(await list({ system: true })).toEqual([
    { notes: [expect.objectContaining({ system: true, text: expect.stringContaining('added 1 commit') })] },
  ]);
});
