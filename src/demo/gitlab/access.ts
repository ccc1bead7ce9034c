import type { AccessLevel } from './model.ts';

export const GUEST = 10 satisfies AccessLevel;
// Below Reporter nobody sees the code, merge requests or pipelines of a private project.
export const REPORTER = 20 satisfies AccessLevel;
export const DEVELOPER = 30 satisfies AccessLevel;
