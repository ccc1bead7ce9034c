import type { MergeRequest } from './model.ts';

/** GitLab's `detailed_merge_status`. */
export function mergeStatusOf(mergeRequest: MergeRequest): string {
  if (mergeRequest.state !== 'opened') return 'not_open';
  return isDraft(mergeRequest) ? 'draft_status' : 'mergeable';
}

export function isDraft(mergeRequest: MergeRequest): boolean {
  return mergeRequest.title.startsWith('Draft: ');
}
