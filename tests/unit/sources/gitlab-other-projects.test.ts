import { expect, test } from 'vitest';
import { createSourceScene } from './gitlab-scene.ts';

interface Jobs {
  jobs: { id: number; name: string }[];
  child_pipelines: { pipeline: { id: number; in_other_project?: boolean; project?: number } }[];
}

/** A merge request whose pipeline started one in group/deploy; there is group/secret too. */
async function createMultiProject(readProjects?: readonly string[]) {
  const scene = await createSourceScene(readProjects ? { readProjects } : {});
  const members = [{ userId: scene.bot.id, accessLevel: 30 as const }];
  const deploy = scene.gitlab.addProject({ path: 'group/deploy', members });
  const secret = scene.gitlab.addProject({ path: 'group/secret', members });
  const parent = scene.gitlab.addPipeline({
    mergeRequest: scene.mr,
    jobs: [{ name: 'deploy', kind: 'bridge', status: 'failed' }],
  });
  const [bridge] = scene.gitlab.jobs(parent.id);
  const child = scene.gitlab.addPipeline({
    projectId: deploy.id,
    upstreamBridgeId: bridge?.id ?? 0,
    jobs: [{ name: 'rollout', status: 'failed', trace: 'quota exceeded\n' }],
  });
  const hidden = scene.gitlab.addPipeline({ projectId: secret.id, jobs: [{ name: 'x', trace: 'secret' }] });
  return { ...scene, deploy, secret, parent, child, hidden };
}

test('jobs and logs of a pipeline in another project are read when the operator allows it', async () => {
  const scene = await createMultiProject(['group/deploy']);

  const { child_pipelines } = await scene.ask<Jobs>('gitlab_list_jobs', { pipeline_id: scene.parent.id });
  const pipeline = child_pipelines[0]?.pipeline;
  expect(pipeline).toMatchObject({ id: scene.child.id, in_other_project: true, project: scene.deploy.id });

  for (const project of [pipeline?.project, 'group/deploy']) {
    const { jobs } = await scene.ask<Jobs>('gitlab_list_jobs', { pipeline_id: scene.child.id, project });
    expect(jobs).toMatchObject([{ name: 'rollout', status: 'failed' }]);
    expect(await scene.ask('gitlab_get_job_log', { job_id: jobs[0]?.id, project })).toBe('quota exceeded\n');
  }
});

test("another project's files are read at its own default branch", async () => {
  const scene = await createMultiProject(['group/deploy']);
  scene.gitlab.addFile({
    projectId: scene.deploy.id,
    ref: 'main',
    path: 'values.yaml',
    content: 'replicas: 3\n',
  });

  expect(await scene.ask('gitlab_get_file', { path: 'values.yaml', project: 'group/deploy' })).toBe(
    'replicas: 3\n',
  );
});

test('a project that is not listed is refused, by its path as by its id', async () => {
  const scene = await createMultiProject(['group/deploy']);

  for (const project of ['group/secret', scene.secret.id]) {
    const args = { pipeline_id: scene.hidden.id, project };
    const { result, isError } = await scene.call('gitlab_list_jobs', args);
    expect(isError).toBe(true);
    expect(result.error).toMatch(/may not be read here: only those that the operator lists/);
  }
  expect(scene.gitlab.requests.map(({ path }) => path).join()).not.toContain('pipelines');
});

test.each(['group/deploy/../secret', '../users', 'group', 'group/deploy?x=1', '/group/secret'])(
  '%j is not taken for a project',
  async (project) => {
    const scene = await createMultiProject(['group/deploy']);

    const { result } = await scene.call('gitlab_list_jobs', { pipeline_id: scene.hidden.id, project });

    expect(result.error).toContain('wrong arguments');
    expect(scene.gitlab.requests).toEqual([]);
  },
);

test('the own project may be named too, and needs no permission', async () => {
  const scene = await createMultiProject(['group/deploy']);
  const args = { pipeline_id: scene.parent.id };

  for (const project of [scene.project.id, 'group/project']) {
    expect(await scene.call('gitlab_list_jobs', { ...args, project })).toMatchObject({ isError: false });
  }
});

test('what is about the merge request never takes a project', async () => {
  const scene = await createMultiProject(['group/deploy']);

  for (const name of ['gitlab_get_mr_details', 'gitlab_list_discussions', 'gitlab_list_pipelines']) {
    const { result } = await scene.call(name, { project: 'group/deploy' });
    expect(result.error).toContain('wrong arguments');
  }
});
