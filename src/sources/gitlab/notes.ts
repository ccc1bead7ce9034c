/** For the system prompt. */
export const GITLAB_NOTES = `All gitlab_ tools read the merge request of this job and its project. Ids come from the lists, never guess
them. Where a tool takes project, it can also read another one that the operator allows; without that argument
there is none. A job is about one commit, that of gitlab_get_mr_details (sha): files, statuses and what other sources
know are of that one unless you ask for another. If the merge request got newer commits since, the answers say so.

When to use what:
- Begin with gitlab_get_mr_details, then gitlab_list_jobs for the failed pipeline, then fetch the logs of all
  failed jobs at once with fetch_batch_to_sandbox (gitlab_get_job_log, one file for each job).
- A failed pipeline without failed jobs: gitlab_get_pipeline (yaml_errors), gitlab_get_ci_config, child_pipelines,
  and gitlab_list_commit_statuses: Konflux and other systems have no job and no log in GitLab, and report only a
  name, a description and a link. Look there too whenever the pipeline's source is "external".
- Failed tests: gitlab_get_test_report for the whole pipeline; gitlab_get_junit_report for a job that keeps its
  JUnit files only among its artifacts. gitlab_list_artifacts and gitlab_get_artifact_file for screenshots, logs
  of services and reports that the job's log speaks of.
- What is new in a log: gitlab_get_last_passing_job with log: true, fetched beside the failing log, then diff both
  in the sandbox (take out times and ids first). gitlab_compare_refs between its sha and the failing one shows
  what changed in between.
- Flaky, or broken on the target branch: gitlab_get_job_history.
- Can the change be the cause: gitlab_get_mr_diff; gitlab_list_commits if only a later commit failed. The code that
  a stack trace names: gitlab_get_file, gitlab_get_blame, gitlab_search_code, gitlab_list_directory.
- How a job runs (script, image, rules, needs): gitlab_get_ci_config.
- What people know already: gitlab_list_discussions. It is hearsay; check it.

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
- in_other_project: true (forks, multi-project pipelines): give its project to tools that take one; if none does,
  or it is refused, its jobs and logs can not be read here; say so.
- Artifacts expire, and a job that failed early has none. A test report names only what jobs uploaded as a report.
- gitlab_search_code searches the default branch; what the merge request adds is not in it.

Job logs are raw: colour codes, carriage returns, and section_start/section_end marks. Line n of a log, as
grep -n counts, is linked as <web_url of the job>#L<n>.`;
