// What GitLab's runner writes before and after a job's own words.
import { runnerGreen, runnerRed } from './colours.ts';
import { createLogWriter, type JobLog, type LogWriter } from './log-writer.ts';

export type FrameOptions = {
  startedAt: Date;
  seed: number;
  sha: string;
  image: string;
  script: string;
  outcome: 'passed' | 'failed';
  /** Files that the job keeps, by their pattern. */
  artifacts?: readonly string[];
};

/** Writes a whole trace around the job's own part, which answers the lines that matter in it. */
export function writeJobLog<Key extends string>(
  options: FrameOptions,
  writeScript: (log: LogWriter) => Record<Key, number>,
): JobLog<Key | 'outcome'> {
  const log = createLogWriter(options);
  prepare(log, options);
  let lines: Record<Key, number> | undefined;
  log.section('step_script', 'Executing "step_script" stage of the job script', () => {
    log.line(
      runnerGreen(`Using docker image sha256:${log.random.hex(64)} for ${options.image} with digest ...`),
    );
    log.line(runnerGreen(`$ ${options.script}`));
    lines = writeScript(log);
  });
  if (lines === undefined) throw new Error('The job wrote nothing.');
  return { lines: { ...lines, outcome: finish(log, options) }, text: log.text() };
}

function prepare(log: LogWriter, { image, sha }: FrameOptions): void {
  log.line(`Running with gitlab-runner 18.5.0 (bda84871)`);
  log.line(
    `  on runner-shared-${log.random.int(10, 40)}.ci.internal ${log.random.hex(9)}, system ID: s_${log.random.hex(12)}`,
  );
  log.section('prepare_executor', 'Preparing the "docker" executor', () => {
    log.line(`Using Docker executor with image ${image} ...`);
    log.line(`Using effective pull policy of [always] for container ${image}`);
    pullImage(log, image);
  });
  log.section('prepare_script', 'Preparing environment', () => {
    log.line(`Using effective pull policy of [always] for container sha256:${log.random.hex(64)}`);
    log.line(
      `Running on runner-${log.random.hex(9)}-project-1-concurrent-0 via runner-shared.ci.internal...`,
    );
    log.pass(1_400);
  });
  log.section('get_sources', 'Getting source from Git repository', () => {
    log.line(runnerGreen('Gitaly correlation ID: ') + log.random.hex(26).toUpperCase());
    log.line(runnerGreen('Fetching changes with git depth set to 20...'));
    log.line('Initialized empty Git repository in /builds/payments/checkout-service/.git/');
    log.line(runnerGreen('Created fresh repository.'));
    log.line(progress(' remote: Compressing objects', 1_284));
    log.line(runnerGreen(`Checking out ${sha.slice(0, 8)} as detached HEAD...`));
    log.line();
    log.line(runnerGreen('Skipping Git submodules setup'));
    log.pass(2_100);
  });
  log.section('restore_cache', 'Restoring cache', () => {
    log.line(runnerGreen('Checking cache for npm-checkout-service-4-non_protected...'));
    log.line('Downloading cache from https://cache.ci.internal/runner/project/1/npm-checkout-service-4');
    log.line(runnerGreen('Successfully extracted cache'));
    log.pass(3_000);
  });
}

function pullImage(log: LogWriter, image: string): void {
  log.line(`Pulling docker image ${image} ...`);
  for (let layer = 0; layer < 9; layer++) {
    const id = log.random.hex(12);
    log.line(`${id}: Pulling fs layer`);
    log.line(progress(`${id}: Downloading`, log.random.int(2, 96), 'MB'));
    log.line(`${id}: Pull complete`);
    log.pass(700);
  }
  log.line(`Digest: sha256:${log.random.hex(64)}`);
  log.line(`Status: Downloaded newer image for ${image}`);
}

/** A bar that is drawn over itself: one line, many carriage returns. */
export function progress(label: string, total: number, unit = ''): string {
  const frames = Array.from({ length: 12 }, (_, step) => {
    const done = Math.round((total * (step + 1)) / 12);
    return `${label} [${'='.repeat(step + 1)}>${' '.repeat(11 - step)}] ${done}${unit}/${total}${unit}`;
  });
  return frames.join('\r');
}

function finish(log: LogWriter, { outcome, artifacts = [] }: FrameOptions): number {
  if (artifacts.length > 0) uploadArtifacts(log, artifacts, outcome);
  log.section('cleanup_file_variables', 'Cleaning up project directory and file based variables', () => {
    log.pass(400);
  });
  return log.line(
    outcome === 'passed' ? runnerGreen('Job succeeded') : runnerRed('ERROR: Job failed: exit code 1'),
  );
}

function uploadArtifacts(
  log: LogWriter,
  artifacts: readonly string[],
  outcome: FrameOptions['outcome'],
): void {
  const name = outcome === 'passed' ? 'upload_artifacts_on_success' : 'upload_artifacts_on_failure';
  log.section(name, `Uploading artifacts for ${outcome === 'passed' ? 'successful' : 'failed'} job`, () => {
    log.line(runnerGreen('Uploading artifacts...'));
    for (const pattern of artifacts)
      log.line(`${pattern}: found ${log.random.int(2, 80)} matching artifact files`);
    log.line('WARNING: coverage/.errors: no matching files. Ensure that the artifact path is relative.');
    log.line(
      `Uploading artifacts as "archive" to coordinator... 201 Created  correlation_id=${log.random.hex(26)}`,
    );
    log.pass(1_800);
  });
}
