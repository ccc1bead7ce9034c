import { createHash } from 'node:crypto';
import { notFound } from '../api-error.ts';
import type { Router } from '../call.ts';
import { toCommit, toDiff } from '../entities/commit.ts';
import { projectLink } from '../links.ts';
import { findCommit } from '../world/find.ts';
import { combineDiffs, commitsBetween, findFile } from '../world/repository.ts';

export function addRepositoryRoutes(router: Router): void {
  router.get('/projects/:id/repository/files/:path/raw', (call) => {
    const project = call.project();
    const ref = call.query('ref') ?? 'HEAD';
    const commit = findCommit(call.world, project, ref);
    if (commit === undefined) throw notFound('Commit');
    const file = findFile(call.world, project, ref, call.param('path'));
    if (file === undefined) throw notFound('File');
    return call.reply
      .headers({
        'content-type': 'text/plain; charset=utf-8',
        'x-gitlab-blob-id': createHash('sha1').update(file.content).digest('hex'),
        'x-gitlab-commit-id': commit.sha,
        'x-gitlab-file-path': file.path,
        'x-gitlab-ref': ref,
        'x-gitlab-size': file.content.length,
      })
      .send(file.content);
  });

  router.get('/projects/:id/repository/compare', (call) => {
    const project = call.project();
    const from = findCommit(call.world, project, call.requiredField('from'));
    const to = findCommit(call.world, project, call.requiredField('to'));
    if (from === undefined || to === undefined) throw notFound('Ref');
    const commits = commitsBetween(call.world, from.sha, to.sha);
    return {
      commit: commits.length === 0 ? null : toCommit(call.world, project, to),
      commits: commits.map((commit) => toCommit(call.world, project, commit)),
      diffs: combineDiffs(commits).map(toDiff),
      compare_timeout: false,
      compare_same_ref: from.sha === to.sha,
      web_url: `${projectLink(call.world, project)}/-/compare/${from.sha}...${to.sha}`,
    };
  });
}
