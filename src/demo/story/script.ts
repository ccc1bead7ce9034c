// What a model would say of the story: data that a server of any provider's API can speak.
import { KONFLUX_RUN } from './konflux-run.ts';
import { writeAnalysisNote, writeReplyNote } from './notes.ts';
import type { FailedPipeline } from './pipeline.ts';
import type { Story } from './scene.ts';

export type ScriptedCall = { name: string; args: Readonly<Record<string, unknown>> };

/** A turn without calls is the last of its run. */
export type ScriptedTurn = { text: string; calls: readonly ScriptedCall[] };

export type Script = {
  /** The merge request that the conversation must be about. */
  iid: number;
  analysis: readonly ScriptedTurn[];
  /** To the first question of a person. */
  reply: readonly ScriptedTurn[];
  /** To any question after that one. */
  further: readonly ScriptedTurn[];
};

/** Only once the pipeline failed: what is said depends on its jobs. */
export function createScript(story: Story): Script {
  const pipeline = story.failedPipeline();
  return {
    iid: story.mergeRequest.iid,
    analysis: analyse(pipeline),
    reply: [
      {
        text: 'The log of that job is still in the sandbox. I will look for the same signature in it.',
        calls: [
          exec(`grep -nE 'LedgerMismatch|AssertionError|Test timeout|ERR_|WARN' ${E2E_LOG} | cut -c1-200`),
        ],
      },
      { text: writeReplyNote(pipeline), calls: [] },
    ],
    further: [{ text: NOTHING_MORE, calls: [] }],
  };
}

const UNIT_LOG = '/tmp/data/unit-tests.log';
const INTEGRATION_LOG = '/tmp/data/integration-tests.log';
const E2E_LOG = '/tmp/data/e2e-smoke.log';
const SPELLING_LOG = '/tmp/data/docs-spelling.log';
export const KONFLUX_LOG_FILE = '/tmp/data/konflux-unit-tests.log';

const NOTHING_MORE =
  'This is the scripted model of the demo, and its script ends here. ' +
  'Set `ANTHROPIC_API_KEY` or `GEMINI_API_KEY` and start the demo again to talk to a real one.';

function analyse(pipeline: FailedPipeline): ScriptedTurn[] {
  const { unitTests, integrationTests, e2eSmokeFirstTry, docsSpelling } = pipeline.jobs;
  const { failedTest, assertion } = unitTests.log.lines;
  const { mismatch } = integrationTests.log.lines;
  return [
    {
      text: 'Let me look at the merge request and its pipelines.',
      calls: [call('gitlab_get_mr_details'), call('gitlab_list_pipelines')],
    },
    {
      text: 'The newest pipeline failed. Which of its jobs did, and what do systems outside of GitLab report?',
      calls: [call('gitlab_list_jobs', { pipeline_id: pipeline.id }), call('gitlab_list_commit_statuses')],
    },
    {
      text: 'Four tries failed: two tests, one smoke test that passed when it was retried, and the spelling, which may fail. I will fetch all four logs. Konflux failed as well, so I will ask it for its runs.',
      calls: [
        call('fetch_batch_to_sandbox', {
          requests: [
            fetchLog(unitTests.id, UNIT_LOG),
            fetchLog(integrationTests.id, INTEGRATION_LOG),
            fetchLog(e2eSmokeFirstTry.id, E2E_LOG),
            fetchLog(docsSpelling.id, SPELLING_LOG),
          ],
        }),
        call('konflux_list_pipelineruns'),
      ],
    },
    {
      text: '',
      calls: [
        exec(
          `grep -nE 'AssertionError|LedgerMismatch|Test timeout|Unknown word|ERROR: Job' ${UNIT_LOG} ${INTEGRATION_LOG} ${E2E_LOG} ${SPELLING_LOG} | cut -c1-260`,
        ),
        call('konflux_get_pipelinerun', { pipelinerun: KONFLUX_RUN.pipelineRun }),
      ],
    },
    {
      text: 'A cart total of 1512 instead of 1513 is in both. Now the lines around it, what the merge request changed, and the log of the task that failed in Konflux.',
      calls: [
        exec(`sed -n '${failedTest},${failedTest + 1}p;${assertion - 1},${assertion + 14}p' ${UNIT_LOG}`),
        exec(`sed -n '${mismatch},${mismatch + 3}p' ${INTEGRATION_LOG} | cut -c1-400`),
        call('gitlab_get_mr_diff'),
        call('fetch_to_sandbox', {
          tool: 'konflux_get_taskrun_log',
          args: { taskrun: KONFLUX_RUN.taskRun },
          path: KONFLUX_LOG_FILE,
        }),
      ],
    },
    {
      text: 'Is it the same failure in Konflux?',
      calls: [exec(`grep -nE '=====|×|AssertionError|Tests ' ${KONFLUX_LOG_FILE}`)],
    },
    { text: writeAnalysisNote(pipeline), calls: [] },
  ];
}

function call(name: string, args: ScriptedCall['args'] = {}): ScriptedCall {
  return { name, args };
}

function exec(command: string): ScriptedCall {
  return call('sandbox_exec', { command });
}

function fetchLog(jobId: number, path: string) {
  return { tool: 'gitlab_get_job_log', args: { job_id: jobId }, path };
}
