import { z } from 'zod';
import type { HttpReader } from '../../http/http-reader.ts';
import type { ProjectPlace } from '../project-address.ts';

/** What the job is about, and whom it asks; nothing of it comes from the model. */
export interface Scope extends ProjectPlace {
  api: HttpReader;
  artifacts: HttpReader;
  /** All files of requests lie below it. */
  artifactsUrl: string;
  /** The commit it is about. */
  sha: string;
  /** Other repositories, whose tests are run for this project: addresses, with `/**` at the end for all below. */
  testRepositories: readonly string[];
  /** What systems outside of GitLab reported for the commit: links and descriptions. */
  readStatuses(signal: AbortSignal): Promise<string[]>;
}

export const requestId = z
  .string()
  .regex(/^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i, 'is not the id of a request')
  .describe('The uuid in a link to Testing Farm, in a commit status or in a log');
