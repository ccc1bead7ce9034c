import { z } from 'zod';
import type { Flaw } from './problem.ts';
import { checked, sound } from './values.ts';

/** A map from project patterns to something, in which no project can be meant by two equal patterns. */
export function projectMap<Value extends z.ZodType>(value: Value) {
  return z.record(projectPattern(), value).superRefine(refuseTwins, { when: sound() });
}

/** `group/app`, `group/**`, `**` or the id of a project. */
export function projectPattern() {
  return checked(findPatternFlaw);
}

const patternShape = /^[\w.*-]+(?:\/[\w.*-]+)*$/;

function findPatternFlaw(pattern: string): Flaw | null {
  const fix = "write 'group/app', 'group/**', '**' or the numeric id of a project";
  if (!patternShape.test(pattern)) return { message: 'is not a project pattern', fix };
  if (pattern.split('/').some((segment) => segment.includes('**') && segment !== '**')) {
    return { message: '** stands for whole path segments', fix: 'write ** between slashes, as in group/**' };
  }
  const namesOneThing = !pattern.includes('/') && !pattern.includes('*');
  if (namesOneThing && !/^[1-9]\d*$/.test(pattern)) {
    return {
      message: 'names a group, not a project',
      fix: `write '${pattern}/**' for all projects of the group`,
    };
  }
  return null;
}

function refuseTwins(map: Record<string, unknown>, context: z.RefinementCtx): void {
  const seen = new Map<string, string>();
  for (const pattern of Object.keys(map)) {
    const twin = seen.get(pattern.toLowerCase());
    seen.set(pattern.toLowerCase(), pattern);
    if (twin === undefined) continue;
    context.addIssue({
      code: 'custom',
      path: [pattern],
      message: `is the same pattern as '${twin}': upper and lower case are not told apart`,
      params: { fix: 'keep one of the two' },
    });
  }
}
