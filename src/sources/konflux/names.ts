import { z } from 'zod';

/** The name of a Kubernetes object: nothing that could lead out of its path. */
export function objectName(what: string) {
  return z
    .string()
    .max(253)
    .regex(/^[a-z0-9](?:[a-z0-9.-]*[a-z0-9])?$/, 'is not the name of a Kubernetes object')
    .describe(what);
}

export const ofWhat = z
  .enum(['commit', 'merge_request'])
  .optional()
  .describe('Of the commit of this job (unless told), or of all commits of the merge request');
