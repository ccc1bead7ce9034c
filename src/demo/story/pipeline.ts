import { setTimeout as sleep } from 'node:timers/promises';
import type { Job, MergeRequest } from '../gitlab/model.ts';
import type { PretendGitlab } from '../gitlab/server.ts';
import { JOBS, type JobKey, KONFLUX } from './jobs.ts';
import { type StoryLogs, writeStoryLogs } from './logs.ts';

export type StoryJob<Key extends keyof StoryLogs> = {
  id: number;
  name: string;
  url: string;
  log: StoryLogs[Key];
};

export type FailedPipeline = {
  id: number;
  url: string;
  sha: string;
  /** Each try of a job is one of its own. */
  jobs: { [Key in keyof StoryLogs]: StoryJob<Key> };
};

export type StartedPipeline = {
  id: number;
  sha: string;
  startedAt: Date;
  jobs: Record<JobKey, Readonly<Job>>;
};

export type Stage = {
  gitlab: PretendGitlab;
  mergeRequest: Readonly<MergeRequest>;
  projectUrl: string;
  /** How long each thing takes that happens. */
  stepMs: number;
};

/** The first two jobs run, the others wait, and the outside has begun as well. */
export async function startPipeline({ gitlab, mergeRequest, stepMs }: Stage): Promise<StartedPipeline> {
  const pipeline = gitlab.addPipeline({
    mergeRequest,
    jobs: Object.values(JOBS).map((job) => ({
      ...job,
      status: job.stage === 'check' ? 'pending' : 'created',
    })),
  });
  const byName = new Map(gitlab.jobs(pipeline.id).map((job) => [job.name, job]));
  const jobOf = (key: JobKey): Readonly<Job> => {
    const job = byName.get(JOBS[key].name);
    if (job === undefined) throw new Error(`The pipeline has no job ${JOBS[key].name}.`);
    return job;
  };
  await sleep(stepMs);
  reportKonflux(gitlab, pipeline, 'running');
  const jobs = {
    lint: jobOf('lint'),
    compile: jobOf('compile'),
    unitTests: jobOf('unitTests'),
    integrationTests: jobOf('integrationTests'),
    e2eSmoke: jobOf('e2eSmoke'),
    docsSpelling: jobOf('docsSpelling'),
  };
  for (const job of [jobs.lint, jobs.compile]) gitlab.setJobStatus(job.id, 'running');
  return { id: pipeline.id, sha: pipeline.sha, startedAt: pipeline.createdAt, jobs };
}

/** Plays it to its end. The pipeline fails with its last job and so tells of it once. */
export async function finishPipeline(
  { gitlab, mergeRequest, projectUrl, stepMs }: Stage,
  { id, sha, startedAt, jobs }: StartedPipeline,
): Promise<FailedPipeline> {
  const logs = writeStoryLogs({ startedAt, sha });
  const end = async (job: Readonly<Job>, status: 'success' | 'failed', log: { text: string }) => {
    await sleep(stepMs);
    gitlab.setTrace(job.id, log.text);
    gitlab.setJobStatus(job.id, status);
  };
  await end(jobs.lint, 'success', logs.lint);
  await end(jobs.compile, 'success', logs.compile);
  for (const job of [jobs.unitTests, jobs.integrationTests, jobs.e2eSmoke, jobs.docsSpelling]) {
    gitlab.setJobStatus(job.id, 'running');
  }
  await end(jobs.docsSpelling, 'failed', logs.docsSpelling);
  await end(jobs.e2eSmoke, 'failed', logs.e2eSmokeFirstTry);
  const retry = gitlab.retryJob(jobs.e2eSmoke.id);
  gitlab.setJobStatus(retry.id, 'running');
  await end(jobs.unitTests, 'failed', logs.unitTests);
  reportKonflux(gitlab, { projectId: mergeRequest.projectId, sha }, 'failed');
  await end(retry, 'success', logs.e2eSmoke);
  await end(jobs.integrationTests, 'failed', logs.integrationTests);

  const tell = <Key extends keyof StoryLogs>(job: Readonly<Job>, key: Key): StoryJob<Key> => ({
    id: job.id,
    name: job.name,
    url: `${projectUrl}/-/jobs/${job.id}`,
    log: logs[key],
  });
  return {
    id,
    url: `${projectUrl}/-/pipelines/${id}`,
    sha,
    jobs: {
      lint: tell(jobs.lint, 'lint'),
      compile: tell(jobs.compile, 'compile'),
      unitTests: tell(jobs.unitTests, 'unitTests'),
      integrationTests: tell(jobs.integrationTests, 'integrationTests'),
      e2eSmokeFirstTry: tell(jobs.e2eSmoke, 'e2eSmokeFirstTry'),
      e2eSmoke: tell(retry, 'e2eSmoke'),
      docsSpelling: tell(jobs.docsSpelling, 'docsSpelling'),
    },
  };
}

function reportKonflux(
  gitlab: PretendGitlab,
  { projectId, sha }: { projectId: number; sha: string },
  state: 'running' | 'failed',
): void {
  const { name, targetUrl } = KONFLUX;
  gitlab.addCommitStatus({ projectId, sha, name, state, targetUrl, description: KONFLUX[state] });
}
