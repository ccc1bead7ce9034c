// Pages are bounded in bytes as well as in number, and the answer says where reading stopped.
import { expect, test } from 'vitest';
import { createGitlabSource } from '../../../src/sources/gitlab/source.ts';
import { openKonfluxCluster } from '../../../src/sources/konflux/clusters.ts';
import { createKonfluxSource } from '../../../src/sources/konflux/source.ts';
import { answerJson, createClient, startServer } from '../gitlab/gitlab-server.ts';
import { asModel, GITLAB_URL, MR_IID, PROJECT, SHA } from './konflux-scene.ts';

const PAD = 'x'.repeat(9_000_000);

test("GitLab's large pages end after about 24 MB, and the note tells", async () => {
  const { url, requests } = await startServer((_, response, count) => {
    const link = `<${url}/api/v4/x?page=${count + 1}&per_page=100>; rel="next"`;
    answerJson(response, [{ id: `${count}`, title: 'large', pad: PAD }], { headers: { link } });
  });
  const { ask } = asModel(
    createGitlabSource(createClient(url), { projectId: 1, mrIid: 7, sha: 'a'.repeat(40) }),
  );

  const answer = await ask('gitlab_list_commits');

  expect(requests).toHaveLength(3);
  expect(answer).toMatchObject({
    commits: [{ sha: '1' }, { sha: '2' }, { sha: '3' }],
    note: 'Only the first 3 commits were read; there are more.',
  });
});

test('pages without anything in them do not go on for ever', async () => {
  const { url, requests } = await startServer((_, response, count) => {
    const link = `<${url}/api/v4/x?page=${count + 1}&per_page=100>; rel="next"`;
    answerJson(response, count === 1 ? [{ id: 'a' }] : [], { headers: { link } });
  });
  const { ask } = asModel(
    createGitlabSource(createClient(url), { projectId: 1, mrIid: 7, sha: 'a'.repeat(40) }),
  );

  expect(await ask('gitlab_list_commits')).toMatchObject({ note: expect.stringContaining('there are more') });
  expect(requests).toHaveLength(10);
});

test("Konflux's large pages end after about 24 MB for each label, and the remarks tell", async () => {
  const { url, requests } = await startServer((_, response, count) =>
    answerJson(response, {
      items: [{ metadata: { name: `run-${count}`, uid: `${count}` }, pad: PAD }],
      metadata: { continue: 'more' },
    }),
  );
  const login = { kind: 'token', url, token: 'x' } as const;
  const cluster = await openKonfluxCluster({ name: 'prod', login, learn: () => undefined });
  const pinned = { project: PROJECT, gitlabUrl: GITLAB_URL, mrIid: MR_IID, sha: SHA };
  const { ask } = asModel(createKonfluxSource([{ cluster, namespace: 'team' }], pinned));

  const answer = await ask('konflux_list_pipelineruns');

  expect(requests).toHaveLength(6);
  expect(answer.remarks).toEqual(['cluster prod has more than was read; these are only the first.']);
  await cluster.close();
});
