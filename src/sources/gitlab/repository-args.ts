// The arguments that tools about the repository have in common.
import { z } from 'zod';
import { shaOf } from './head-moved.ts';
import type { ProjectScope } from './project-tool.ts';

export const repositoryPath = z
  .string()
  .min(1)
  .max(4_096)
  .refine((path) => !/\p{Cc}/u.test(path), 'has control characters')
  .transform((path) => path.replace(/^(?:\.?\/)+/, ''))
  .refine(
    (path) => !path.split('/').some((part) => part === '.' || part === '..'),
    'has . or .. in it; write it from the top of the repository',
  );

const refName = z
  .string()
  .min(1)
  .max(512)
  .refine((name) => !/^-|[\s\p{Cc}~^:?*[\\]/u.test(name), 'is not the name of a branch, tag or commit');

export const ref = refName
  .optional()
  .describe(
    'Branch, tag or commit; the commit of this job unless told (in another project: its default branch)',
  );

export const requiredRef = refName.describe('Branch, tag or commit');

export function toRef(scope: ProjectScope, wanted: string | undefined): string {
  if (wanted !== undefined) return wanted;
  return scope.isOwn ? shaOf(scope) : 'HEAD';
}
