// What exists in the pretend GitLab. Plain records in our own words; entities/ and payloads/ speak GitLab's.

export type AccessLevel = 10 | 15 | 20 | 30 | 40 | 50;

export type User = {
  id: number;
  username: string;
  name: string;
  email: string;
  bot: boolean;
  state: 'active' | 'blocked';
  createdAt: Date;
};

export type Scope = 'api' | 'read_api' | 'read_user' | 'read_repository' | 'write_repository';

export type Token = { userId: number; scopes: readonly Scope[]; expiresAt: Date | null; revoked: boolean };

export type Project = {
  id: number;
  /** With its namespace: `group/project`. */
  path: string;
  name: string;
  description: string;
  defaultBranch: string;
  visibility: 'private' | 'internal' | 'public';
  /** Whether everybody who sees the project sees its jobs. */
  publicJobs: boolean;
  members: Map<number, AccessLevel>;
  /** Branch name to the commit at its tip. */
  branches: Map<string, string>;
  createdAt: Date;
};

export type Diff = {
  oldPath: string;
  newPath: string;
  diff: string;
  change: 'modified' | 'new' | 'renamed' | 'deleted';
};

export type Commit = {
  sha: string;
  /** A fork's commits are seen from the project that the merge request goes to as well. */
  projectIds: number[];
  parents: string[];
  message: string;
  authorName: string;
  authorEmail: string;
  createdAt: Date;
  diffs: Diff[];
};

export type StoredFile = {
  projectId: number;
  ref: string;
  path: string;
  content: Buffer;
  /** Whose lines they are, from the first one on; the rest are the ref's own commit's. */
  blame?: readonly { sha: string; lines: number }[];
};

export type MergeRequest = {
  id: number;
  iid: number;
  projectId: number;
  sourceProjectId: number;
  title: string;
  description: string;
  state: 'opened' | 'closed' | 'merged';
  authorId: number;
  sourceBranch: string;
  targetBranch: string;
  baseSha: string;
  /** Oldest first; the last one is the head. */
  commits: string[];
  labels: string[];
  assigneeIds: number[];
  discussionLocked: boolean;
  createdAt: Date;
  updatedAt: Date;
  mergedAt: Date | null;
  mergedById: number | null;
  mergeCommitSha: string | null;
  closedAt: Date | null;
  closedById: number | null;
};

export type MergeRequestRef = Readonly<{ projectId: number; iid: number }>;

export type Note = {
  id: number;
  projectId: number;
  mergeRequestId: number;
  discussionId: string;
  authorId: number;
  body: string;
  /** `null` is a note that stands alone; it becomes a DiscussionNote with the first reply. */
  type: null | 'DiscussionNote' | 'DiffNote';
  /** Of a DiffNote: a line of the new file. */
  position: { path: string; line: number } | null;
  system: boolean;
  internal: boolean;
  createdAt: Date;
  updatedAt: Date;
  resolvedAt: Date | null;
  resolvedById: number | null;
};

export type AwardTarget = { kind: 'note' | 'merge-request'; id: number };

export type Award = { id: number; name: string; userId: number; target: AwardTarget; createdAt: Date };

export type CiStatus =
  | 'created'
  | 'pending'
  | 'running'
  | 'success'
  | 'failed'
  | 'canceled'
  | 'skipped'
  | 'manual';

export type PipelineSource =
  | 'push'
  | 'web'
  | 'api'
  | 'schedule'
  | 'trigger'
  | 'external'
  | 'parent_pipeline'
  | 'merge_request_event';

export type TestCase = {
  name: string;
  classname: string;
  status: 'success' | 'failed' | 'skipped' | 'error';
  seconds: number;
  output: string | null;
  stackTrace: string | null;
  file: string | null;
  /** How often it failed on the default branch in the last 14 days; null: not counted. */
  recentFailures: number | null;
};

export type TestSuite = { name: string; jobIds: number[]; error: string | null; cases: TestCase[] };

export type Pipeline = {
  id: number;
  iid: number;
  projectId: number;
  sha: string;
  /** The merge request's own commit; a merged-results pipeline runs on another `sha`. */
  headSha: string;
  ref: string;
  source: PipelineSource;
  status: CiStatus;
  /** Why it has no jobs. */
  yamlErrors: string | null;
  userId: number;
  /** Set for merge request pipelines only; GitLab's hook names the merge request for no other. */
  mergeRequestId: number | null;
  upstreamBridgeId: number | null;
  testSuites: TestSuite[];
  createdAt: Date;
  updatedAt: Date;
  startedAt: Date | null;
  finishedAt: Date | null;
};

/** Builds, bridges and external commit statuses share one table and one id sequence, as in GitLab. */
export type Job = {
  id: number;
  kind: 'build' | 'bridge' | 'external';
  projectId: number;
  pipelineId: number;
  name: string;
  stage: string;
  status: CiStatus;
  allowFailure: boolean;
  failureReason: string | null;
  retried: boolean;
  userId: number;
  targetUrl: string | null;
  description: string | null;
  downstreamPipelineId: number | null;
  createdAt: Date;
  startedAt: Date | null;
  finishedAt: Date | null;
};

/** What a job left: its files and the archive they are in, and reports beside it. */
export type Artifacts = { files: ReadonlyMap<string, Buffer>; archive: Buffer; reports: string[] };
