import type { Announcement, Hook } from './hook.ts';
import type {
  Artifacts,
  Award,
  Commit,
  Job,
  MergeRequest,
  Note,
  Pipeline,
  Project,
  StoredFile,
  Token,
  User,
} from './model.ts';

/** Everything the pretend GitLab knows. world/ changes it; routes/, entities/ and payloads/ only read it. */
export type World = {
  /** Where the server answers; known once it listens. */
  url: string;
  readonly now: () => Date;
  readonly users: Map<number, User>;
  readonly tokens: Map<string, Token>;
  readonly projects: Map<number, Project>;
  readonly commits: Map<string, Commit>;
  readonly files: StoredFile[];
  readonly mergeRequests: Map<number, MergeRequest>;
  readonly notes: Map<number, Note>;
  readonly awards: Map<number, Award>;
  readonly pipelines: Map<number, Pipeline>;
  readonly jobs: Map<number, Job>;
  readonly traces: Map<number, Buffer>;
  readonly artifacts: Map<number, Artifacts>;
  readonly hooks: Map<number, Hook>;
  readonly executedQuickActions: ExecutedQuickAction[];
  readonly mentions: Mention[];
  readonly closingReferences: ClosingReference[];
  readonly nextId: (kind: IdKind) => number;
  readonly announce: (announcement: Announcement) => void;
  /** Hands every announcement to the listener from now on. */
  readonly onAnnouncement: (listener: (announcement: Announcement) => void) => void;
};

export type ExecutedQuickAction = {
  command: string;
  argument: string;
  userId: number;
  projectId: number;
  iid: number;
  /** False when the user had no right to it: GitLab still takes the line out of the note. */
  applied: boolean;
};

/** A user was told about a note because it names them. */
export type Mention = { userId: number; byUserId: number; noteId: number; via: 'create' | 'edit' };

export type ClosingReference = { noteId: number; byUserId: number; text: string };

export type IdKind = keyof typeof FIRST_IDS;

export function createWorld(options: { now: () => Date }): World {
  const lastIds = new Map<IdKind, number>();
  const listeners: ((announcement: Announcement) => void)[] = [];
  return {
    url: '',
    now: options.now,
    users: new Map(),
    tokens: new Map(),
    projects: new Map(),
    commits: new Map(),
    files: [],
    mergeRequests: new Map(),
    notes: new Map(),
    awards: new Map(),
    pipelines: new Map(),
    jobs: new Map(),
    traces: new Map(),
    artifacts: new Map(),
    hooks: new Map(),
    executedQuickActions: [],
    mentions: [],
    closingReferences: [],
    nextId: (kind) => {
      const id = (lastIds.get(kind) ?? FIRST_IDS[kind]) + 1;
      lastIds.set(kind, id);
      return id;
    },
    announce: (announcement) => {
      for (const listener of listeners) listener(announcement);
    },
    onAnnouncement: (listener) => {
      listeners.push(listener);
    },
  };
}

// Far apart, so that a user's id given where a note's id belongs finds nothing.
const FIRST_IDS = {
  user: 10,
  project: 100,
  hook: 500,
  mergeRequest: 1_000,
  delivery: 5_000,
  pipeline: 20_000,
  commit: 50_000,
  job: 300_000,
  note: 4_000_000,
  award: 60_000_000,
};
