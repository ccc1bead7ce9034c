import type { MergeRequest, Note, Project, User } from '../gitlab/model.ts';
import type { PretendGitlab } from '../gitlab/server.ts';
import { CHANGES, fileAfter, fileBefore } from './change.ts';
import { JOBS } from './jobs.ts';
import { writeBaselineLogs } from './logs.ts';
import { type FailedPipeline, finishPipeline, type StartedPipeline, startPipeline } from './pipeline.ts';

/** A small change with a large mistake in it, and what its pipeline makes of that. */
export type Story = {
  readonly developer: Readonly<User>;
  /** The account that Hummingbird writes with. */
  readonly agent: Readonly<User>;
  readonly project: Readonly<Project>;
  readonly mergeRequest: Readonly<MergeRequest>;
  /** Where a person finds the merge request. */
  readonly mergeRequestUrl: string;
  startPipeline(): Promise<void>;
  /** Starts it first when nobody did. */
  failPipeline(): Promise<FailedPipeline>;
  /** The pipeline once it failed; throws before. */
  failedPipeline(): FailedPipeline;
  /** The developer asks back, in the thread of the agent's note. */
  ask(discussionId: string): Readonly<Note>;
};

export const QUESTION = 'Is the e2e failure the same problem?';

/** `stepMs` is how long each thing takes that happens in the pipeline. */
export function arrangeStory(gitlab: PretendGitlab, { stepMs = 0 }: { stepMs?: number } = {}): Story {
  const developer = gitlab.addUser({ username: 'mira', name: 'Mira Okafor' });
  const agent = gitlab.addUser({ username: 'hummingbird', name: 'Hummingbird', bot: true });
  const project = gitlab.addProject({
    path: 'payments/checkout-service',
    description: 'Carts, prices and orders',
    members: [
      { userId: developer.id, accessLevel: 30 },
      { userId: agent.id, accessLevel: 30 },
    ],
  });
  addBaseline(gitlab, project, developer);
  const mergeRequest = proposeChange(gitlab, project, developer);
  const projectUrl = `${gitlab.url}/${project.path}`;
  const stage = { gitlab, mergeRequest, projectUrl, stepMs };

  let started: Promise<StartedPipeline> | undefined;
  let finished: Promise<FailedPipeline> | undefined;
  let failed: FailedPipeline | undefined;
  const start = () => {
    started ??= startPipeline(stage);
    return started;
  };
  const finish = async () => {
    failed = await finishPipeline(stage, await start());
    return failed;
  };
  return {
    developer,
    agent,
    project,
    mergeRequest,
    mergeRequestUrl: `${projectUrl}/-/merge_requests/${mergeRequest.iid}`,
    startPipeline: async () => void (await start()),
    failPipeline: () => {
      finished ??= finish();
      return finished;
    },
    failedPipeline: () => {
      if (failed === undefined)
        throw new Error('The pipeline has not failed yet; await failPipeline() first.');
      return failed;
    },
    ask: (discussionId) =>
      gitlab.addNote({
        projectId: project.id,
        iid: mergeRequest.iid,
        userId: developer.id,
        discussionId,
        body: QUESTION,
      }),
  };
}

/** The default branch as it was: its files, and a pipeline that passed. */
function addBaseline(gitlab: PretendGitlab, project: Readonly<Project>, developer: Readonly<User>): void {
  for (const { path, diff } of CHANGES) {
    gitlab.addFile({
      projectId: project.id,
      ref: project.defaultBranch,
      path,
      content: fileBefore(diff),
    });
  }
  const sha = project.branches.get(project.defaultBranch) ?? '';
  const logs = writeBaselineLogs({ startedAt: project.createdAt, sha });
  gitlab.addPipeline({
    projectId: project.id,
    userId: developer.id,
    jobs: [
      { ...JOBS.lint, status: 'success', trace: logs.lint.text },
      { ...JOBS.compile, status: 'success', trace: logs.compile.text },
      { ...JOBS.unitTests, status: 'success', trace: logs.unitTests.text },
      { ...JOBS.integrationTests, status: 'success', trace: logs.integrationTests.text },
      { ...JOBS.e2eSmoke, status: 'success', trace: logs.e2eSmoke.text },
    ],
  });
}

function proposeChange(
  gitlab: PretendGitlab,
  project: Readonly<Project>,
  developer: Readonly<User>,
): Readonly<MergeRequest> {
  const sourceBranch = 'half-even-invoices';
  const mergeRequest = gitlab.addMergeRequest({
    projectId: project.id,
    authorId: developer.id,
    title: 'Round totals half-even in invoices',
    description: "Accounting wants banker's rounding on invoices. Carts stay as they are.",
    sourceBranch,
    commits: [{ message: 'Round totals half-even in invoices', diffs: CHANGES }],
  });
  for (const { path, diff } of CHANGES) {
    gitlab.addFile({ projectId: project.id, ref: sourceBranch, path, content: fileAfter(diff) });
  }
  return mergeRequest;
}
