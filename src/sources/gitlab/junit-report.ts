import { text } from 'node:stream/consumers';
import { z } from 'zod';
import { NotFoundError, PermanentError } from '../../errors.ts';
import { readInThread } from '../reports/read-in-thread.ts';
import { type ArchivedFile, openArchive } from './archive.ts';
import { type FailedTests, joinFailedTests } from './failed-tests.ts';
import { readJobArtifacts, sizeOfArchive } from './job-artifacts.ts';
import { JUNIT } from './junit.ts';
import { defineProjectTool } from './project-tool.ts';
import type { Scope } from './scope.ts';

const MAX_FILE_BYTES = 8 * 1024 * 1024;
const MAX_TOTAL_BYTES = 64 * 1024 * 1024;
const MAX_FILES = 500;

export function createGetJunitReport(pinned: Scope) {
  return defineProjectTool(pinned, {
    name: 'gitlab_get_junit_report',
    description:
      "The failed tests, with their messages, of the JUnit files (*.xml) in a job's archive of artifacts. For jobs whose tests are missing from gitlab_get_test_report.",
    schema: z.strictObject({
      job_id: z.int().min(1).describe('From gitlab_list_jobs'),
      path: z.string().min(1).optional().describe('Only this file, or all below this folder'),
    }),
    async read({ job_id, path = '' }, scope, signal) {
      const artifacts = await readJobArtifacts(scope, job_id, signal);
      const archiveBytes = sizeOfArchive(artifacts);
      const { files, isWhole } = await openArchive(scope, { jobId: job_id, archiveBytes }, signal);
      const chosen = files.filter((file) => isMeant(file, path));
      const cut = isWhole ? [] : [`of its files only the first ${files.length} were looked at`];
      if (chosen.length === 0)
        throw new NotFoundError(
          `Job ${job_id} has no XML files ${path && `at ${path} `}in its artifacts${cut.map((words) => ` (${words})`)}; see gitlab_list_artifacts`,
        );
      return { kind: 'json', value: toAnswer(await readReports(chosen, signal), cut) };
    },
  });
}

function isMeant({ path }: ArchivedFile, wanted: string): boolean {
  const folder = wanted.replace(/\/*$/, '/');
  return path.toLowerCase().endsWith('.xml') && (wanted === '' || path === wanted || path.startsWith(folder));
}

interface Reports {
  reports: FailedTests[];
  read: string[];
  leftOut: string[];
}

async function readReports(files: readonly ArchivedFile[], signal: AbortSignal): Promise<Reports> {
  const reports: Reports = { reports: [], read: [], leftOut: [] };
  let total = 0;
  for (const file of files) {
    total += file.bytes;
    if (reports.read.length === MAX_FILES || total > MAX_TOTAL_BYTES) {
      reports.leftOut.push(`${file.path}: too much to read at once; ask for it by its path`);
      continue;
    }
    try {
      const xml = await text(await file.open(MAX_FILE_BYTES));
      const report = await readInThread(JUNIT, xml, signal);
      if (!report) continue;
      reports.read.push(file.path);
      reports.reports.push(report);
    } catch (error) {
      // One bad file must not hide what the others say.
      if (!(error instanceof PermanentError)) throw error;
      reports.leftOut.push(`${file.path}: ${error.message}`);
    }
  }
  return reports;
}

const MAX_NAMED = 50;

function toAnswer({ reports, read, leftOut }: Reports, cut: readonly string[]) {
  const left = [...cut, ...leftOut];
  return {
    reports: toNames(read),
    ...joinFailedTests(reports),
    ...(left.length > 0 && { left_out: toNames(left) }),
  };
}

function toNames(all: readonly string[]): string[] {
  const more = all.length - MAX_NAMED;
  return more > 0 ? [...all.slice(0, MAX_NAMED), `… and ${more} more`] : [...all];
}
