import type { Readable } from 'node:stream';
import { cutBody } from '../../http/bounded-body.ts';
import type { Scope } from './scope.ts';

/** GitLab itself keeps 100 MB of a log unless told otherwise. */
const MAX_LOG_BYTES = 256 * 1024 * 1024;

/** Raw, at the reader's pace; one that is too long ends with a line that says so. Read it to its end, or destroy it. */
export async function openJobLog(
  { client, projectId }: Scope,
  jobId: number,
  signal: AbortSignal,
  maxBytes = MAX_LOG_BYTES,
): Promise<Readable> {
  const answer = await client.stream(`projects/${projectId}/jobs/${jobId}/trace`, { signal });
  return cutBody(answer, maxBytes, `The log of job ${jobId}`);
}
