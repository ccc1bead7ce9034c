import type { GitlabClient } from '../../gitlab/client.ts';
import type { Source } from '../source.ts';
import { createGetArtifactFile } from './artifact-file.ts';
import { createGetBlame } from './blame.ts';
import { createGetCiConfig } from './ci-config.ts';
import { createListCommitStatuses } from './commit-statuses.ts';
import { createListCommits } from './commits.ts';
import { createCompareRefs } from './compare.ts';
import { createListDirectory } from './directory.ts';
import { createListDiscussions } from './discussions.ts';
import { createGetFile } from './file.ts';
import { createGetJobHistory } from './job-history.ts';
import { createGetJobLog } from './job-log.ts';
import { createListJobs } from './jobs.ts';
import { createGetJunitReport } from './junit-report.ts';
import { createGetLastPassingJob } from './last-passing-job.ts';
import { createListArtifacts } from './list-artifacts.ts';
import { createGetMrDetails } from './mr-details.ts';
import { createGetMrDiff } from './mr-diff.ts';
import { GITLAB_NOTES } from './notes.ts';
import { createGetPipeline } from './pipeline-details.ts';
import { createListPipelines } from './pipelines.ts';
import type { Scope } from './scope.ts';
import { createSearchCode } from './search-code.ts';
import { createGetTestReport } from './test-report.ts';

/** What can be read of one merge request and its project. The client's token only reads. */
export function createGitlabSource(client: GitlabClient, pinned: Omit<Scope, 'client'>): Source {
  const scope = { client, ...pinned };
  return {
    name: 'gitlab',
    notes: GITLAB_NOTES,
    tools: [
      createGetMrDetails(scope),
      createListCommits(scope),
      createGetMrDiff(scope),
      createListDiscussions(scope),
      createListPipelines(scope),
      createGetPipeline(scope),
      createListJobs(scope),
      createGetJobLog(scope),
      createGetLastPassingJob(scope),
      createGetJobHistory(scope),
      createGetTestReport(scope),
      createListArtifacts(scope),
      createGetArtifactFile(scope),
      createGetJunitReport(scope),
      createListCommitStatuses(scope),
      createGetCiConfig(scope),
      createGetFile(scope),
      createListDirectory(scope),
      createGetBlame(scope),
      createSearchCode(scope),
      createCompareRefs(scope),
    ],
  };
}
