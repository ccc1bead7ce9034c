import { text } from 'node:stream/consumers';
import { z } from 'zod';
import { NotFoundError, PermanentError } from '../../errors.ts';
import { type ArchivedFile, openArchive } from './archive.ts';
import { type TestCase, toFailedTests } from './failed-tests.ts';
import { readJobArtifacts, sizeOfArchive } from './job-artifacts.ts';
import { parseJunit } from './junit.ts';
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
      const { files } = await openArchive(scope, { jobId: job_id, archiveBytes }, signal);
      const chosen = files.filter((file) => isMeant(file, path));
      if (chosen.length === 0)
        throw new NotFoundError(
          `Job ${job_id} has no XML files ${path && `at ${path} `}in its artifacts; see gitlab_list_artifacts`,
        );
      return { kind: 'json', value: toAnswer(await readReports(chosen)) };
    },
  });
}

function isMeant({ path }: ArchivedFile, wanted: string): boolean {
  const folder = wanted.replace(/\/*$/, '/');
  return path.toLowerCase().endsWith('.xml') && (wanted === '' || path === wanted || path.startsWith(folder));
}

interface Reports {
  cases: TestCase[];
  read: string[];
  leftOut: string[];
}

async function readReports(files: readonly ArchivedFile[]): Promise<Reports> {
  const reports: Reports = { cases: [], read: [], leftOut: [] };
  let total = 0;
  for (const file of files) {
    total += file.bytes;
    if (reports.read.length === MAX_FILES || total > MAX_TOTAL_BYTES) {
      reports.leftOut.push(`${file.path}: too much to read at once; ask for it by its path`);
      continue;
    }
    try {
      const cases = await readReport(file);
      if (!cases) continue;
      reports.read.push(file.path);
      // Not spread into one call: there may be more than it takes.
      for (const one of cases) reports.cases.push(one);
    } catch (error) {
      // One bad file must not hide what the others say.
      if (!(error instanceof PermanentError)) throw error;
      reports.leftOut.push(`${file.path}: ${error.message}`);
    }
  }
  return reports;
}

async function readReport(file: ArchivedFile): Promise<TestCase[] | null> {
  const xml = await text(await file.open(MAX_FILE_BYTES));
  try {
    return parseJunit(xml);
  } catch (cause) {
    if (cause instanceof PermanentError) throw cause;
    throw new PermanentError(`can not be read: ${cause instanceof Error ? cause.message : cause}`, { cause });
  }
}

const MAX_NAMED = 50;

function toAnswer({ cases, read, leftOut }: Reports) {
  return {
    reports: read.slice(0, MAX_NAMED),
    ...toFailedTests(cases),
    ...(leftOut.length > 0 && { left_out: leftOut.slice(0, MAX_NAMED) }),
  };
}
