import { PermanentError } from '../errors.ts';

/** GitLab says it is not there; it says the same of what the token may not see. */
export class NotFoundError extends PermanentError {}
