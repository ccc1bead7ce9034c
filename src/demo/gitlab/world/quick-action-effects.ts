import { DEVELOPER, REPORTER } from '../access.ts';
import type { MergeRequest, User } from '../model.ts';
import type { QuickAction } from '../quick-actions.ts';
import type { World } from '../state.ts';
import { headShaOf, projectById } from './find.ts';
import {
  closeMergeRequest,
  editMergeRequest,
  mergeMergeRequest,
  reopenMergeRequest,
} from './merge-requests.ts';

export type Outcome = { changes: Record<string, unknown>; summary: string };

/** Carries out one quick action as the note's author, if that user may, and logs it either way. */
export function runQuickAction(
  world: World,
  mergeRequest: MergeRequest,
  user: User,
  action: QuickAction,
): Outcome {
  const applied = mayRun(world, mergeRequest, user, action);
  world.executedQuickActions.push({
    ...action,
    userId: user.id,
    projectId: mergeRequest.projectId,
    iid: mergeRequest.iid,
    applied,
  });
  if (!applied) return { changes: {}, summary: `Could not apply ${action.command} command.` };
  const effect = EFFECTS[action.command];
  if (effect === undefined) return { changes: {}, summary: `Applied ${action.command} command.` };
  return effect({ world, mergeRequest, userId: user.id, argument: action.argument });
}

type Run = { world: World; mergeRequest: MergeRequest; userId: number; argument: string };

const EFFECTS: Readonly<Record<string, (run: Run) => Outcome>> = {
  close: ({ world, mergeRequest, userId }) => {
    closeMergeRequest(world, mergeRequest, userId);
    return { changes: { state_event: 'close' }, summary: 'Closed this merge request.' };
  },
  reopen: ({ world, mergeRequest, userId }) => reopen(world, mergeRequest, userId),
  open: ({ world, mergeRequest, userId }) => reopen(world, mergeRequest, userId),
  merge: ({ world, mergeRequest, userId }) => {
    const sha = headShaOf(mergeRequest);
    mergeMergeRequest(world, mergeRequest, userId);
    return { changes: { merge: sha }, summary: 'Merged this merge request.' };
  },
  title: (run) => retitle(run, run.argument, `Changed the title to "${run.argument}".`),
  draft: (run) => retitle(run, `Draft: ${undraft(run)}`, 'Marked this merge request as a draft.'),
  wip: (run) => retitle(run, `Draft: ${undraft(run)}`, 'Marked this merge request as a draft.'),
  ready: (run) => retitle(run, undraft(run), 'Marked this merge request as ready.'),
  label: (run) => relabel(run, [...run.mergeRequest.labels, ...labelsIn(run)], 'Added'),
  labels: (run) => relabel(run, [...run.mergeRequest.labels, ...labelsIn(run)], 'Added'),
  relabel: (run) => relabel(run, labelsIn(run), 'Replaced all labels with'),
  unlabel: (run) => relabel(run, labelsLeft(run), 'Removed'),
  remove_label: (run) => relabel(run, labelsLeft(run), 'Removed'),
  lock: (run) => setLock(run, true, 'Locked the discussion.'),
  unlock: (run) => setLock(run, false, 'Unlocked the discussion.'),
};

/** Labels want a Reporter, the rest a Developer or the author, merging a Developer. */
function mayRun(world: World, mergeRequest: MergeRequest, user: User, action: QuickAction): boolean {
  const level = projectById(world, mergeRequest.projectId).members.get(user.id) ?? 0;
  if (/label/.test(action.command)) return level >= REPORTER;
  if (level >= DEVELOPER) return true;
  return user.id === mergeRequest.authorId && action.command !== 'merge';
}

function reopen(world: World, mergeRequest: MergeRequest, userId: number): Outcome {
  reopenMergeRequest(world, mergeRequest, userId);
  return { changes: { state_event: 'reopen' }, summary: 'Reopened this merge request.' };
}

function retitle({ world, mergeRequest, userId }: Run, title: string, summary: string): Outcome {
  editMergeRequest(world, mergeRequest, { title }, userId);
  return { changes: { title }, summary };
}

function relabel({ world, mergeRequest, userId, argument }: Run, labels: string[], verb: string): Outcome {
  editMergeRequest(world, mergeRequest, { labels: [...new Set(labels)] }, userId);
  return { changes: { labels: mergeRequest.labels }, summary: `${verb} ${argument} label(s).` };
}

function setLock({ world, mergeRequest, userId }: Run, locked: boolean, summary: string): Outcome {
  editMergeRequest(world, mergeRequest, { discussionLocked: locked }, userId);
  return { changes: { discussion_locked: locked }, summary };
}

function undraft({ mergeRequest }: Run): string {
  return mergeRequest.title.replace(/^Draft: /, '');
}

function labelsIn({ argument }: Run): string[] {
  return [...argument.matchAll(/~"([^"]+)"|~(\S+)/g)].map((match) => match[1] ?? match[2] ?? '');
}

function labelsLeft(run: Run): string[] {
  const gone = labelsIn(run);
  return gone.length === 0 ? [] : run.mergeRequest.labels.filter((label) => !gone.includes(label));
}
