import type { Readable } from 'node:stream';
import type { Scope } from './scope.ts';

/** Raw, at the reader's pace. Read it to its end, or destroy it. */
export async function openJobLog(
  { client, projectId }: Scope,
  jobId: number,
  signal: AbortSignal,
): Promise<Readable> {
  const { body } = await client.stream(`projects/${projectId}/jobs/${jobId}/trace`, { signal });
  return body;
}
