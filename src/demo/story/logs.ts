// The traces of the story's jobs: the same text for the same start and commit.
import { toPlainLine } from './logs/colours.ts';
import { writePassedE2eSmoke, writeTimedOutE2eSmoke } from './logs/e2e-smoke-log.ts';
import { writeFailedIntegrationTests, writePassedIntegrationTests } from './logs/integration-tests-log.ts';
import type { JobLog } from './logs/log-writer.ts';
import { writeCompile, writeFailedSpelling, writeLint } from './logs/small-logs.ts';
import { writeFailedUnitTests, writePassedUnitTests } from './logs/unit-tests-log.ts';

/** The pipeline of the merge request. */
export type StoryLogs = ReturnType<typeof writeStoryLogs>;

export function writeStoryLogs(frame: { startedAt: Date; sha: string }) {
  return {
    lint: writeLint(frame),
    compile: writeCompile(frame),
    unitTests: writeFailedUnitTests(frame),
    integrationTests: writeFailedIntegrationTests(frame),
    e2eSmokeFirstTry: writeTimedOutE2eSmoke(frame),
    e2eSmoke: writePassedE2eSmoke(frame),
    docsSpelling: writeFailedSpelling(frame),
  };
}

/** The last pipeline of the default branch, to compare with. */
export function writeBaselineLogs(frame: { startedAt: Date; sha: string }) {
  return {
    lint: writeLint(frame),
    compile: writeCompile(frame),
    unitTests: writePassedUnitTests(frame),
    integrationTests: writePassedIntegrationTests(frame),
    e2eSmoke: writePassedE2eSmoke(frame),
  };
}

/** A line as a person sees it, by its number. */
export function readLine(log: JobLog, number: number): string {
  const line = log.text.split('\n')[number - 1];
  if (line === undefined) throw new Error(`The log has no line ${number}.`);
  return toPlainLine(line);
}
