/** For the system prompt. */
export const KONFLUX_NOTES = `All konflux_ tools read the namespaces that the configuration gives to this project; they take no namespace, no
commit and no URL. Names come from the lists, never guess them. Everything is looked for in the cluster and in
its archives; found_in says where it was, remarks say what could not be reached.

When to use what:
- A failed commit status that is no GitLab job and links to ".../ns/<namespace>/pipelinerun/<name>" is a
  PipelineRun of Konflux. Its name may begin with anything: both prefixes are configurable. Begin with
  konflux_list_pipelineruns, then konflux_get_pipelinerun for each that failed: causes and failing_path often
  tell all.
- Where a step failed, fetch konflux_get_taskrun_log of that TaskRun into a file. Signs of known failures are
  told again at its end.
- Where there is no log (a pod that never started, was evicted, hung or was killed), the conditions and step
  states of konflux_list_taskruns and konflux_get_pod_events say why.
- Where the PipelineRun succeeded and the status is failed all the same, a check failed:
  konflux_list_test_results, for a policy konflux_get_policy_report.
- konflux_list_snapshots shows which integration tests ran on the built images and how they ended;
  konflux_list_integration_tests whether one is optional; konflux_list_releases what became of a release.

Traps:
- A log does not show an OOM kill, a timeout, a quota, an image that can not be pulled: believe the condition.
  "signal: killed" in a log is most likely an OOM kill as well.
- A timeout of the PipelineRun blames nobody: the task that was still running then is the suspect.
- Cancelled runs were mostly replaced by those of a newer commit; skipped tasks are consequences.
- TEST_OUTPUT counts as failed on everything but SUCCESS, SKIPPED and WARNING, also when its TaskRun succeeded.
- Labels are shortened and have other characters; sha and event are shown as the annotations have them.
- A release's managed PipelineRun runs in another namespace, which can not be read here; say so.
- Infrastructure (evictions, quota, registry, image pulls, scanners that hang) is not the author's fault; say
  that a retry ("/retest" as a comment) may help, and what to change if it comes back.`;
