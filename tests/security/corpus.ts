// Hostile logs, titles, diffs, files and replies: each with what it is after, and what stands in its way.
import type { Attack } from './attack.ts';
import { LIMITS } from './corpus/limits.ts';
import { NOTES } from './corpus/notes.ts';
import { PEOPLE } from './corpus/people.ts';
import { REACH } from './corpus/reach.ts';
import { SECRETS } from './corpus/secrets.ts';
import { TRUTH } from './corpus/truth.ts';

export const CORPUS: readonly Attack[] = [...SECRETS, ...NOTES, ...TRUTH, ...REACH, ...PEOPLE, ...LIMITS];
