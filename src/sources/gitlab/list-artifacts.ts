import { z } from 'zod';
import { type Archive, openArchive } from './archive.ts';
import { type JobArtifacts, readJobArtifacts, sizeOfArchive } from './job-artifacts.ts';
import { defineProjectTool } from './project-tool.ts';
import type { Scope } from './scope.ts';

const MAX_LISTED = 2_000;

export function createListArtifacts(pinned: Scope) {
  return defineProjectTool(pinned, {
    name: 'gitlab_list_artifacts',
    description:
      'The files in the archive of artifacts that a job left: path and size. Screenshots, reports, core dumps and logs of services are often there. reports names what GitLab keeps beside the archive (junit: see gitlab_get_test_report).',
    schema: z.strictObject({
      job_id: z.int().min(1).describe('From gitlab_list_jobs'),
      under: z.string().min(1).optional().describe('Only paths that begin so, such as build/reports/'),
    }),
    async read({ job_id, under = '' }, scope, signal) {
      const artifacts = await readJobArtifacts(scope, job_id, signal);
      const archiveBytes = sizeOfArchive(artifacts);
      const archive = await openArchive(scope, { jobId: job_id, archiveBytes }, signal);
      return { kind: 'json', value: toAnswer(artifacts, archive, under) };
    },
  });
}

function toAnswer(artifacts: JobArtifacts, { files, isWhole }: Archive, under: string) {
  const found = files.filter(({ path }) => path.startsWith(under));
  const isCut = !isWhole || found.length > MAX_LISTED;
  return {
    archive_bytes: artifacts.archiveBytes,
    expires: artifacts.expiresAt,
    reports: artifacts.reports,
    files: found.slice(0, MAX_LISTED).map(({ path, bytes }) => ({ path, bytes })),
    total: found.length,
    ...(isCut && {
      note: `Not all files are listed (at most ${MAX_LISTED}); narrow it down with under.`,
    }),
  };
}
