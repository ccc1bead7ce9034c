import type { GitlabClient } from '../../gitlab/client.ts';
import type { Source } from '../source.ts';
import { createListCommitStatuses } from './commit-statuses.ts';
import { createGetJobLog } from './job-log.ts';
import { createListJobs } from './jobs.ts';
import { createGetLastPassingJob } from './last-passing-job.ts';
import { createGetMrDetails } from './mr-details.ts';
import { createGetMrDiff } from './mr-diff.ts';
import { GITLAB_NOTES } from './notes.ts';
import { createListPipelines } from './pipelines.ts';
import type { Scope } from './scope.ts';

/** What can be read of one merge request and its project. The client's token only reads. */
export function createGitlabSource(client: GitlabClient, pinned: Omit<Scope, 'client'>): Source {
  const scope = { client, ...pinned };
  return {
    name: 'gitlab',
    notes: GITLAB_NOTES,
    tools: [
      createGetMrDetails(scope),
      createGetMrDiff(scope),
      createListPipelines(scope),
      createListJobs(scope),
      createGetJobLog(scope),
      createGetLastPassingJob(scope),
      createListCommitStatuses(scope),
    ],
  };
}
