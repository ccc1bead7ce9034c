// What a job left behind, as GitLab lists it: an archive, and reports beside it.
import { z } from 'zod';
import { NotFoundError } from '../../errors.ts';
import type { Scope } from './scope.ts';
import { fromWire } from './wire.ts';

export interface JobArtifacts {
  jobId: number;
  pipelineId: number | null;
  /** Null: there is none, or it has expired. */
  archiveBytes: number | null;
  expiresAt: string | null;
  reports: { type: string; bytes: number }[];
}

export async function readJobArtifacts(
  { client, projectId }: Pick<Scope, 'client' | 'projectId'>,
  jobId: number,
  signal: AbortSignal,
): Promise<JobArtifacts> {
  const answer = await client.withSignal(signal).api.Jobs.show(projectId, jobId);
  const job = fromWire(wireJobWithArtifacts, `job ${jobId}`, answer);
  const files = job.artifacts ?? [];
  const archive = files.find(({ file_type }) => file_type === 'archive') ?? job.artifacts_file;
  return {
    jobId,
    pipelineId: job.pipeline?.id ?? null,
    archiveBytes: archive?.size ?? null,
    expiresAt: job.artifacts_expire_at ?? null,
    reports: files
      .filter(({ file_type }) => !INTERNAL.has(file_type))
      .map(({ file_type, size }) => ({ type: file_type, bytes: size ?? 0 })),
  };
}

/** The size of the archive; throws when there is none. */
export function sizeOfArchive({ jobId, archiveBytes, expiresAt, reports }: JobArtifacts): number {
  if (archiveBytes !== null) return archiveBytes;
  const expired = expiresAt ? `; what there was expired or will expire at ${expiresAt}` : '';
  const names = reports.map(({ type }) => type).join(', ');
  throw new NotFoundError(
    `Job ${jobId} has no archive of artifacts${expired}${names && `; it has reports: ${names}`}`,
  );
}

const INTERNAL = new Set(['archive', 'metadata', 'trace']);

const wireJobWithArtifacts = z.object({
  id: z.number(),
  pipeline: z.object({ id: z.number() }).nullish(),
  artifacts: z.array(z.object({ file_type: z.string(), size: z.number().nullish() })).nullish(),
  artifacts_file: z.object({ size: z.number().nullish() }).nullish(),
  artifacts_expire_at: z.string().nullish(),
});
