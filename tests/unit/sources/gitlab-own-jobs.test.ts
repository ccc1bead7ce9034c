import { expect, test } from 'vitest';
import { createFindOwnJobs } from '../../../src/sources/gitlab/own-jobs.ts';
import { createSourceScene } from './gitlab-scene.ts';

/** A merge request with a pipeline that started one here and one in group/deploy, and jobs that are not its own. */
async function arrange(mayRead?: (project: { path: string }) => boolean) {
  const scene = await createSourceScene();
  const { gitlab, mr, project, dora, bot, client } = scene;
  const members = [{ userId: bot.id, accessLevel: 30 as const }];
  const deploy = gitlab.addProject({ path: 'group/deploy', members });
  const bridges = ['child', 'deploy'].map((name) => ({ name, kind: 'bridge' as const }));
  const parent = gitlab.addPipeline({ mergeRequest: mr, jobs: [...bridges, { name: 'unit' }] });
  const [first, second] = gitlab.jobs(parent.id);
  const other = gitlab.addMergeRequest({
    projectId: project.id,
    authorId: dora.id,
    title: 'Other',
    sourceBranch: 'other',
  });
  const pipelines = {
    own: parent,
    child: gitlab.addPipeline({
      projectId: project.id,
      upstreamBridgeId: first?.id ?? 0,
      jobs: [{ name: 'a' }],
    }),
    deploy: gitlab.addPipeline({
      projectId: deploy.id,
      upstreamBridgeId: second?.id ?? 0,
      jobs: [{ name: 'b' }],
    }),
    main: gitlab.addPipeline({ projectId: project.id, jobs: [{ name: 'unit' }] }),
    other: gitlab.addPipeline({ mergeRequest: other, jobs: [{ name: 'unit' }] }),
    deployAlone: gitlab.addPipeline({ projectId: deploy.id, jobs: [{ name: 'b' }] }),
  };
  const find = createFindOwnJobs({
    ...{ client, gitlabUrl: gitlab.url, projectId: project.id, mrIid: mr.iid, sha: '' },
    ...(mayRead && { mayRead }),
  });
  const ask = async (
    pipeline: keyof typeof pipelines,
    change: Partial<{ url: string; path: string }> = {},
  ) => {
    const { id, projectId } = pipelines[pipeline];
    const projectPath = change.path ?? (projectId === deploy.id ? 'group/deploy' : 'group/project');
    const jobId = gitlab.jobs(id).find(({ kind }) => kind === 'build')?.id ?? 0;
    const url = change.url ?? `${gitlab.url}/${projectPath}/-/jobs/${jobId}`;
    return (await find([{ url, projectPath, jobId }], new AbortController().signal)).get(url);
  };
  return { ...scene, ask };
}

test('jobs of the merge request are its own, those of its child pipelines too', async () => {
  const { ask } = await arrange();
  expect([await ask('own'), await ask('child')]).toEqual([true, true]);
});

test('jobs of other merge requests and branches are not', async () => {
  const { ask } = await arrange();
  expect([await ask('other'), await ask('main')]).toEqual([false, false]);
});

test('those in another project count when it may be read, and only if the merge request started them', async () => {
  const { ask } = await arrange(({ path }) => path === 'group/deploy');
  expect([await ask('deploy'), await ask('deployAlone')]).toEqual([true, false]);
  const closed = await arrange();
  expect(await closed.ask('deploy')).toBe(false);
});

test('an address on another host or of another project is of no job of ours', async () => {
  const { ask } = await arrange();
  expect(await ask('own', { url: 'https://evil.test/group/project/-/jobs/1' })).toBe(false);
  expect(await ask('own', { path: 'group/none' })).toBe(false);
});

test('what GitLab could not be asked about is neither', async () => {
  const { ask, gitlab } = await arrange();
  await gitlab.close();
  expect(await ask('own')).toBeUndefined();
});
