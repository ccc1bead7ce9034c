/** For the system prompt. */
export const GITLAB_NOTES = `All gitlab_ tools read the merge request of this job and its project; they take no project. Ids come
from the lists, never guess them.

When to use what:
- Begin with gitlab_get_mr_details, then gitlab_list_jobs for the failed pipeline, then fetch the logs of all
  failed jobs at once with fetch_batch_to_sandbox (gitlab_get_job_log, one file for each job).
- gitlab_list_commit_statuses shows failures that have no job and no log in GitLab: Konflux and other systems
  report only a name, a description and a link. Look there whenever the pipeline's source is "external" or no
  job explains why it failed.
- gitlab_get_mr_diff tells whether the change can be the cause. gitlab_list_pipelines tells whether an earlier
  commit of the merge request passed.

Traps:
- allow_failure: true means that the job's failure does not fail the pipeline. Mention it, but it is not why
  the pipeline failed.
- A retried job counts by its newest try. passed_on_retry: true is no failure any more but a sign of a flaky
  test or infrastructure; the logs of failed_tries show what it was.
- failure_reason tells script failures (script_failure) from infrastructure (runner_system_failure,
  stuck_or_timeout_failure, job_execution_timeout, …). A bridge without a pipeline never started its child.
- A merged-results pipeline runs on a commit that GitLab made from source and target: its sha is not the merge
  request's. External statuses belong to the merge request's own sha.
- Skipped and canceled jobs are mostly consequences of an earlier failure.
- in_other_project: true (forks, multi-project pipelines): its jobs and logs can not be read here; say so.

Job logs are raw: colour codes, carriage returns, and section_start/section_end marks. Line n of a log, as
grep -n counts, is linked as <web_url of the job>#L<n>.`;
