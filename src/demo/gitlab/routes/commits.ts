import { DEVELOPER } from '../access.ts';
import { ApiError, forbidden, notFound } from '../api-error.ts';
import type { Call, Router } from '../call.ts';
import { toCommitDetail } from '../entities/commit.ts';
import { toCommitStatus } from '../entities/job.ts';
import { toMergeRequestBasic } from '../entities/merge-request.ts';
import type { Commit, Job } from '../model.ts';
import { paginate } from '../paging.ts';
import { addCommitStatus, type NewCommitStatus } from '../world/commit-statuses.ts';
import { findCommit, pipelineById } from '../world/find.ts';

export function addCommitRoutes(router: Router): void {
  const one = '/projects/:id/repository/commits/:sha';

  router.get(one, (call) => toCommitDetail(call.world, call.project(), commitOf(call)));

  router.get(`${one}/merge_requests`, (call) => {
    const project = call.project();
    const { sha } = commitOf(call);
    const found = [...call.world.mergeRequests.values()]
      .filter((mergeRequest) => mergeRequest.projectId === project.id && mergeRequest.commits.includes(sha))
      .reverse();
    return paginate(call, found).map((mergeRequest) => toMergeRequestBasic(call.world, mergeRequest));
  });

  router.get(`${one}/statuses`, (call) => {
    const project = call.project();
    const { sha } = commitOf(call);
    const found = [...call.world.jobs.values()].filter(
      (job) => job.projectId === project.id && isWanted(call, job, sha),
    );
    return paginate(call, found).map((job) => toCommitStatus(call.world, job));
  });

  router.post('/projects/:id/statuses/:sha', (call) => {
    const project = call.project();
    if ((project.members.get(call.user.id) ?? 0) < DEVELOPER) throw forbidden();
    const { sha } = commitOf(call);
    const added = addCommitStatus(call.world, {
      projectId: project.id,
      sha,
      userId: call.user.id,
      state: stateOf(call),
      name: call.field('name') ?? call.field('context'),
      ref: call.field('ref'),
      targetUrl: call.field('target_url'),
      description: call.field('description'),
    });
    return toCommitStatus(call.world, added);
  });
}

function commitOf(call: Call): Commit {
  const found = findCommit(call.world, call.project(), call.param('sha'));
  if (found === undefined) throw notFound('Commit');
  return found;
}

function isWanted(call: Call, job: Job, sha: string): boolean {
  const pipeline = pipelineById(call.world, job.pipelineId);
  return (
    pipeline.sha === sha &&
    (call.query('all') === 'true' || !job.retried) &&
    (call.query('ref') ?? pipeline.ref) === pipeline.ref &&
    (call.query('stage') ?? job.stage) === job.stage &&
    (call.query('name') ?? job.name) === job.name &&
    (call.query('pipeline_id') ?? String(pipeline.id)) === String(pipeline.id)
  );
}

function stateOf(call: Call): NewCommitStatus['state'] {
  const state = call.requiredField('state');
  const known = STATES.find((one) => one === state);
  if (known === undefined) throw new ApiError(400, { error: 'state does not have a valid value' });
  return known;
}

const STATES = ['pending', 'running', 'success', 'failed', 'canceled', 'skipped'] as const;
