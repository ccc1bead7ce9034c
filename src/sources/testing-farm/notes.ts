/** For the system prompt. */
export const TESTING_FARM_NOTES = `Testing Farm runs tests (tmt plans) on machines of its own. A request is known by a uuid, which stands in the link
of a commit status (".../<uuid>"), or in the log of the job or the Konflux step that asked for the tests. Take it
from there, never guess it.

When to use what:
- testing_farm_get_request first: state, overall result and summary. State "error" means that Testing Farm
  itself could not run the tests (no machine, wrong plan, timeout): the summary says why, pipeline.log in detail.
- testing_farm_list_results with only_failed for a "failed" result: which test of which plan, and its logs.
  testout.log (output.txt) of a test is what to fetch; logs named workdir or log_dir are folders.

Traps:
- "error" is mostly infrastructure or a broken plan, "failed" is mostly the tests: do not mix them up.
- The same plan may run several times, once for each arch and compose: look whether all failed.
- A guest that could not be set up (guest setup, artifact installation logs of the plan) fails all of its tests.
- Files are kept for some weeks only; a 404 for an older request means that they are gone. Say so.
- Only requests of this job can be read: those that test this commit or this project, those that a status of the
  commit links to, and those whose tests are in a repository that the operator lists. Another one is refused: say so.
- A request of this project may be of another commit: compare names_this_commit before you believe it.`;
