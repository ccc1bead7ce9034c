// Setting the scene and looking at it: what a test or the demo does to the world by hand.
import type { Hook, HookEvent } from './hook.ts';
import type {
  AccessLevel,
  Artifacts,
  Award,
  Job,
  MergeRequest,
  MergeRequestRef,
  Note,
  Pipeline,
  Project,
  User,
} from './model.ts';
import { type Rendering, renderNote } from './rendering.ts';
import type { World } from './state.ts';
import { addArtifacts, type NewArtifacts } from './world/artifacts.ts';
import { award, revokeAward, toAwardTarget } from './world/awards.ts';
import { addCommitStatus, type NewCommitStatus } from './world/commit-statuses.ts';
import {
  awardsOn,
  jobsOf,
  mergeRequestByRef,
  noteById,
  notesOf,
  pipelineById,
  projectById,
} from './world/find.ts';
import {
  addMergeRequest,
  closeMergeRequest,
  type Edit,
  editMergeRequest,
  mergeMergeRequest,
  type NewMergeRequest,
  pushCommit,
  reopenMergeRequest,
} from './world/merge-requests.ts';
import { addNote, deleteNote, type NewNote, rewriteNote } from './world/notes.ts';
import {
  addProject,
  addToken,
  addUser,
  blockUser,
  changeProject,
  type NewProject,
  type NewToken,
  type NewUser,
  removeMember,
  revokeToken,
  setMember,
} from './world/people.ts';
import type { NewPipeline } from './world/pipeline-records.ts';
import { addPipeline, retryJob, setJobStatus, setPipelineStatus, setTrace } from './world/pipelines.ts';
import { addFile, type NewCommit, type NewFile } from './world/repository.ts';

export type Arrangement = ReturnType<typeof createArrangement>;

export type NewHook = {
  projectId: number;
  url: string;
  token?: string;
  /** `whsec_` and the key in base64. */
  signingToken?: string;
  events: readonly HookEvent[];
};

/** Everything here fires the hooks that the same change fires in GitLab. */
export function createArrangement(world: World) {
  return {
    addUser: (input: NewUser): Readonly<User> => addUser(world, input),
    addToken: (input: NewToken) => addToken(world, input),
    revokeToken: (token: string) => revokeToken(world, token),
    addProject: (input: NewProject): Readonly<Project> => addProject(world, input),
    setMember: (projectId: number, userId: number, level: AccessLevel) =>
      setMember(world, projectId, userId, level),
    removeMember: (projectId: number, userId: number) => removeMember(world, projectId, userId),
    blockUser: (userId: number) => blockUser(world, userId),
    changeProject: (projectId: number, change: Parameters<typeof changeProject>[2]) =>
      changeProject(world, projectId, change),
    addFile: (input: NewFile) => addFile(world, input),
    addHook: (input: NewHook) => addHook(world, input),

    addMergeRequest: (input: NewMergeRequest): Readonly<MergeRequest> => addMergeRequest(world, input),
    pushCommit: (mr: MergeRequestRef, commit?: NewCommit & { userId?: number }) =>
      pushCommit(world, mr, commit),
    editMergeRequest: (mr: MergeRequestRef, edit: Edit, userId?: number) =>
      editMergeRequest(world, mr, edit, userId),
    closeMergeRequest: (mr: MergeRequestRef, userId?: number) => closeMergeRequest(world, mr, userId),
    reopenMergeRequest: (mr: MergeRequestRef, userId?: number) => reopenMergeRequest(world, mr, userId),
    mergeMergeRequest: (mr: MergeRequestRef, userId?: number) => mergeMergeRequest(world, mr, userId),

    addPipeline: (input: NewPipeline): Readonly<Pipeline> => addPipeline(world, input),
    setPipelineStatus: (id: number, status: Pipeline['status']) => setPipelineStatus(world, id, status),
    setJobStatus: (id: number, status: Job['status'], options?: { failureReason?: string }) =>
      setJobStatus(world, id, status, options),
    retryJob: (id: number): Readonly<Job> => retryJob(world, id),
    addArtifacts: (input: NewArtifacts): Readonly<Artifacts> => addArtifacts(world, input),
    setTrace: (jobId: number, trace: string | Buffer) => setTrace(world, jobId, trace),
    addCommitStatus: (input: NewCommitStatus): Readonly<Job> => addCommitStatus(world, input),

    addNote: (input: NewNote): Readonly<Note> => addNote(world, input),
    editNote: (noteId: number, body: string) => void rewriteNote(world, noteId, body),
    /** As a reader sees it. */
    rendering: (noteId: number): Rendering => renderNote(noteById(world, noteId).body, world.url),
    deleteNote: (noteId: number) => deleteNote(world, noteId),
    /** On a note, by its id, or on a merge request. A second one of the same name changes nothing. */
    award: (on: number | MergeRequestRef, name: string, userId: number): Readonly<Award> =>
      giveAward(world, on, name, userId),
    revokeAward: (awardId: number) => revokeAward(world, awardId),

    /** What people and bots wrote, oldest first, without the notes that GitLab itself adds. */
    notes: (projectId: number, iid: number): Readonly<Note>[] => writtenNotes(world, { projectId, iid }),
    /** The same by thread. */
    discussions: (projectId: number, iid: number): Readonly<Note>[][] => [
      ...Map.groupBy(writtenNotes(world, { projectId, iid }), (note) => note.discussionId).values(),
    ],
    awards: (on: number | MergeRequestRef): Readonly<Award>[] => awardsOn(world, toAwardTarget(world, on)),
    jobs: (pipelineId: number): Readonly<Job>[] => jobsOf(world, pipelineById(world, pipelineId)),
    pipelines: (projectId: number): Readonly<Pipeline>[] =>
      [...world.pipelines.values()].filter((pipeline) => pipeline.projectId === projectId),

    executedQuickActions: world.executedQuickActions,
    /** Whom notes named, and so notified. */
    mentions: world.mentions,
    closingReferences: world.closingReferences,
  };
}

function addHook(world: World, input: NewHook): Readonly<Hook> {
  const hook: Hook = {
    id: world.nextId('hook'),
    projectId: projectById(world, input.projectId).id,
    url: input.url,
    token: input.token ?? null,
    signingToken: input.signingToken ?? null,
    events: input.events,
    recentFailures: 0,
    disabledUntil: null,
    permanentlyDisabled: false,
    deliveries: [],
  };
  world.hooks.set(hook.id, hook);
  return hook;
}

function giveAward(world: World, on: number | MergeRequestRef, name: string, userId: number): Award {
  const target = toAwardTarget(world, on);
  const given = award(world, target, name, userId);
  const present = given ?? awardsOn(world, target).find((one) => one.name === name && one.userId === userId);
  if (present === undefined) throw new Error(`The award ${name} was neither given nor there.`);
  return present;
}

function writtenNotes(world: World, ref: MergeRequestRef): Note[] {
  return notesOf(world, mergeRequestByRef(world, ref)).filter((note) => !note.system);
}
