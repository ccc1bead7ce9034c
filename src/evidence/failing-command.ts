// Where the command that failed begins and ends: what every CI system writes about it in its own way.
import type { Line } from './read-lines.ts';

/** Places in the list of lines. */
export interface FailingCommand {
  start: number;
  /** Its last line, or the mark that says how it ended. */
  end: number;
}

type FindEnd = (lines: readonly Line[]) => number;

const ENDS: readonly FindEnd[] = [
  findGitlabSectionEnd,
  findTektonStepEnd,
  (lines) => findFirst(lines, /^The command ".{1,2000}" (?:failed and )?exited with [1-9]/),
  (lines) =>
    findFirst(
      lines,
      /^##\[error\](?:Process completed with exit code|The process '.{1,500}' failed with exit code)/,
    ),
  (lines) => findFirst(lines, /^##\[error\]/),
  (lines) =>
    findFirst(lines, /^(?:ERROR: script returned exit code|Build step '.{1,300}' marked build as failure)/),
  (lines) => findLast(lines, /^ERROR: Job failed|^Finished: FAILURE/),
];

const COMMAND = /^(?:\$ \S|##\[group\]Run |\[command\])/;
/** How a shell echoes commands; elsewhere it is a line of a diff. */
const ECHOED = /^\+ \S/;
const JENKINS =
  /^(?:Started by |Running as SYSTEM|Running in Durability|\[Pipeline\] |Building (?:remotely|in workspace))/;

export function findFailingCommand(lines: readonly Line[]): FailingCommand {
  for (const findEnd of ENDS) {
    const end = findEnd(lines);
    if (end >= 0) return { start: findStart(lines, end), end };
  }
  const end = lines.length - 1;
  return { start: findStart(lines, end), end };
}

/** The section that ran the script; what comes after it tidies up. */
function findGitlabSectionEnd(lines: readonly Line[]): number {
  const end = lines.findLastIndex(
    ({ mark }) => mark !== null && /section_end:\d{1,12}:(?:step_script|build_script)/.test(mark),
  );
  // The mark may share its line with the beginning of the next section.
  return end > 0 && lines[end]?.text !== '' ? end - 1 : end;
}

/** The step that the others were skipped for, or that is said to have failed. */
function findTektonStepEnd(lines: readonly Line[]): number {
  if (!lines.some(({ step }) => step !== null)) return -1;
  const skipped = findFirst(lines, /^(?:[\d/]{10} [\d:]{8} )?Skipping step because a previous step failed/);
  if (skipped > 0) return skipped - 1;
  for (const { text } of lines) {
    const [, task, name] =
      /^failed to get logs for task (\S{1,80}) : container step-(\S{1,80}) has failed/.exec(text) ?? [];
    if (task !== undefined) return lines.findLastIndex(({ step }) => step === `${task} : ${name}`);
  }
  return -1;
}

/** The last command before the end that printed anything. */
function findStart(lines: readonly Line[], end: number): number {
  const step = lines[end]?.step ?? null;
  const hasEchoes = lines.slice(0, 40).some(({ text }) => JENKINS.test(text));
  const isCommand = (text: string): boolean => COMMAND.test(text) || (hasEchoes && ECHOED.test(text));
  for (let at = end - 1; at >= 0; at -= 1) {
    if (step !== null && lines[at]?.step !== step) return at + 1;
    if (step === null && isCommand(lines[at]?.text ?? '')) return at;
  }
  return 0;
}

function findFirst(lines: readonly Line[], pattern: RegExp): number {
  return lines.findIndex(({ text }) => pattern.test(text));
}

function findLast(lines: readonly Line[], pattern: RegExp): number {
  return lines.findLastIndex(({ text }) => pattern.test(text));
}
