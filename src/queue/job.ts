// The vocabulary of the queue: what GitLab's events ask of us. Ids only; texts are read when the job runs.
export interface ProjectRef {
  id: number;
  path: string;
}

export type Job = AnalyzeJob | ReplyJob | StopJob | FeedbackJob | MergeRequestChangedJob | PipelinePassedJob;

/** A pipeline of the commit failed. */
export interface AnalyzeJob {
  kind: 'analyze';
  project: ProjectRef;
  /** External pipelines do not say whose they are: the merge request is then found by its commit. */
  mrIid: number | null;
  sha: string;
  /** The commit is one that GitLab made of both branches, not the head of the merge request. */
  isMergeResult: boolean;
  /** The pipeline of a fork's merge request may have run in the fork. */
  pipeline: { id: number; projectId: number };
}

/** A person wrote in a thread, or called the agent by name. */
export interface ReplyJob {
  kind: 'reply';
  project: ProjectRef;
  mrIid: number;
  noteId: number;
  discussionId: string | null;
  authorId: number;
  /** The note may call the agent by name, so it may be meant in whatever thread it stands. */
  mentioned: boolean;
}

/** A person wants what runs for the merge request to stop. */
export interface StopJob extends Omit<ReplyJob, 'kind'> {
  kind: 'stop';
}

/** A person judged a note of the agent. */
export interface FeedbackJob {
  kind: 'feedback';
  project: ProjectRef;
  mrIid: number | null;
  noteId: number;
  noteAuthorId: number;
  awardId: number;
  userId: number;
  value: 'up' | 'down';
  given: boolean;
}

/** What is running for an older commit of this merge request is no longer wanted. */
export interface MergeRequestChangedJob {
  kind: 'mr-changed';
  project: ProjectRef;
  mrIid: number;
  change: 'pushed' | 'closed' | 'merged';
  sha: string;
}

/** A pipeline of the commit succeeded, perhaps after a retry. */
export interface PipelinePassedJob extends Omit<AnalyzeJob, 'kind'> {
  kind: 'pipeline-passed';
}

/** Analyses take minutes; signals take milliseconds and must not wait behind them. */
export type Lane = 'work' | 'signals';

export const LANES: readonly Lane[] = ['work', 'signals'];

export function laneOf(job: Job): Lane {
  return job.kind === 'analyze' || job.kind === 'reply' ? 'work' : 'signals';
}

/** Lower runs first: a person waits for a reply, nobody waits for an automatic analysis. */
export function priorityOf(job: Job): number {
  return job.kind === 'analyze' ? 10 : 1;
}

/** Jobs that follow each other closely and share this key become one. */
export function mergeKeyOf(job: Job): string | null {
  if (job.kind !== 'analyze') return null;
  return toMergeKey(job.project.id, job.mrIid ?? job.sha);
}

/** Of the analyses of a merge request, or of a commit whose merge request is not known yet. */
export function toMergeKey(projectId: number, mrIidOrSha: number | string): string {
  return `analyze-${projectId}-${typeof mrIidOrSha === 'number' ? `mr${mrIidOrSha}` : mrIidOrSha}`;
}
