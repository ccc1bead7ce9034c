import type { Call, Router } from '../call.ts';
import { toCommit, toDiff } from '../entities/commit.ts';
import { toMergeRequest, toMergeRequestBasic } from '../entities/merge-request.ts';
import { toPipelineBasic } from '../entities/pipeline.ts';
import type { MergeRequest } from '../model.ts';
import { paginate } from '../paging.ts';
import { commitBySha, pipelinesOf, projectById } from '../world/find.ts';
import { combineDiffs } from '../world/repository.ts';

export function addMergeRequestRoutes(router: Router): void {
  router.get('/projects/:id/merge_requests', (call) => {
    const project = call.project();
    const wanted = [...call.world.mergeRequests.values()]
      .filter((one) => one.projectId === project.id && isWanted(call, one))
      .toSorted((a, b) => timeOf(call, b) - timeOf(call, a) || b.id - a.id);
    if (call.query('sort') === 'asc') wanted.reverse();
    return paginate(call, wanted).map((one) => toMergeRequestBasic(call.world, one));
  });

  router.get('/projects/:id/merge_requests/:iid', (call) => toMergeRequest(call.world, call.mergeRequest()));

  router.get('/projects/:id/merge_requests/:iid/commits', (call) => {
    const mergeRequest = call.mergeRequest();
    const project = projectById(call.world, mergeRequest.projectId);
    const commits = mergeRequest.commits.map((sha) => commitBySha(call.world, sha)).reverse();
    return paginate(call, commits).map((commit) => toCommit(call.world, project, commit));
  });

  router.get('/projects/:id/merge_requests/:iid/diffs', (call) => {
    const commits = call.mergeRequest().commits.map((sha) => commitBySha(call.world, sha));
    return paginate(call, combineDiffs(commits)).map(toDiff);
  });

  router.get('/projects/:id/merge_requests/:iid/pipelines', (call) => {
    const pipelines = pipelinesOf(call.world, call.mergeRequest());
    return paginate(call, pipelines).map((one) => toPipelineBasic(call.world, one));
  });
}

function isWanted(call: Call, one: MergeRequest): boolean {
  const state = call.query('state') ?? 'all';
  const iids = call.queryList('iids');
  const updatedAfter = call.query('updated_after');
  return (
    (state === 'all' || one.state === state) &&
    (call.query('source_branch') ?? one.sourceBranch) === one.sourceBranch &&
    (call.query('target_branch') ?? one.targetBranch) === one.targetBranch &&
    (iids.length === 0 || iids.includes(String(one.iid))) &&
    (updatedAfter === undefined || one.updatedAt > new Date(updatedAfter))
  );
}

function timeOf(call: Call, one: MergeRequest): number {
  return (call.query('order_by') === 'updated_at' ? one.updatedAt : one.createdAt).getTime();
}
