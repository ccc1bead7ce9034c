// Everything in a job is about one commit. What GitLab shows only of the merge request as it is now, says so.
import { z } from 'zod';
import { PermanentError } from '../../errors.ts';
import type { Scope } from './scope.ts';
import { fromWire } from './wire.ts';

/** The commit that the job is about. */
export function shaOf({ sha, mrIid }: Pick<Scope, 'sha' | 'mrIid'>): string {
  if (sha) return sha;
  throw new PermanentError(`Merge request !${mrIid} has no commit yet`);
}

/** What to tell of a head that is not, or no more, the commit of the job; undefined when it is. */
export function toMovedNote(
  head: string | null | undefined,
  { sha }: Pick<Scope, 'sha'>,
): string | undefined {
  if (!head || head === sha) return undefined;
  return `The merge request's head is ${head} by now; this job is about ${sha}. What is shown here is of the newer head.`;
}

export async function readMovedNote(scope: Scope, signal: AbortSignal): Promise<string | undefined> {
  const { client, projectId, mrIid } = scope;
  const answer = await client.withSignal(signal).api.MergeRequests.show(projectId, mrIid);
  return toMovedNote(fromWire(wireHead, 'the merge request', answer).sha, scope);
}

// Null before the first commit.
const wireHead = z.object({ sha: z.string().nullish() });
