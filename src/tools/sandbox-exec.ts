import { z } from 'zod';
import { cutWords } from '../cut-words.ts';
import type { Redactor } from '../redact/redactor.ts';
import type { Sandbox } from '../sandbox/sandbox.ts';
import type { ToolLimits } from './limits.ts';
import type { Kept, Spill } from './spill.ts';
import { createTool, type Tool } from './tool.ts';

export function createSandboxExec(
  sandbox: Sandbox,
  { spill, redactor, limits }: { spill: Spill; redactor: Redactor; limits: ToolLimits },
): Tool {
  return createTool(declare(limits), async ({ command, timeout_seconds }, signal) => {
    const result = await sandbox.exec(command, {
      timeoutMs: timeout_seconds === undefined ? limits.commandTimeoutMs : timeout_seconds * 1000,
      maxOutputBytes: limits.maxOutputBytes,
      signal,
    });
    // A command may have unpacked what no redactor can look into.
    const stdout = await spill.keepText(redactor.text(toWhole(result.stdout, result.truncated, limits)));
    const stderr = await spill.keepText(redactor.text(toWhole(result.stderr, result.truncated, limits)));
    return {
      exit_code: result.exitCode,
      stdout: shownOf(stdout),
      stderr: shownOf(stderr),
      ...fileOf('stdout_file', stdout),
      ...fileOf('stderr_file', stderr),
      ...(result.ending === 'timed-out' && { timed_out: true }),
      ...(result.truncated && { truncated: true }),
    };
  });
}

/** Of a character in which it was cut. */
const MAX_LOST_BYTES = 3;

/** Without the word in which it was cut, if it was: of two streams one may be whole. */
function toWhole(text: string, truncated: boolean, { maxOutputBytes }: ToolLimits): string {
  const isCut = truncated && Buffer.byteLength(text) >= maxOutputBytes - MAX_LOST_BYTES;
  return isCut ? cutWords(text, text.length - 1) : text;
}

function declare({ commandTimeoutMs, maxCommandTimeoutMs, maxInlineBytes, maxOutputBytes }: ToolLimits) {
  const maxSeconds = Math.floor(maxCommandTimeoutMs / 1000);
  return {
    name: 'sandbox_exec',
    runsAlone: true,
    description: [
      'Runs a command with `sh -c` in the sandbox, where fetched files are. It has no network and no secrets;',
      'grep, sed, awk, jq, sort, head, tail, diff, tar are there. Files stay from one command to the next.',
      `Output over ${maxInlineBytes} bytes is saved to the file named in stdout_file or stderr_file, and only`,
      'its head and tail are shown: search that file instead of printing it again. Do not print what is binary:',
      'it is neither shown nor kept; write it to a file.',
      `What is printed beyond ${Math.round(maxOutputBytes / 1024 / 1024)} MB is dropped (truncated: true).`,
      'A command that ran out of time has exit_code 124 and timed_out: true; the files it had written are kept.',
    ].join(' '),
    schema: z.strictObject({
      command: z.string().min(1).describe('The shell command; pipes and several lines are fine'),
      timeout_seconds: z
        .int()
        .min(1)
        .max(maxSeconds)
        .optional()
        .describe(`How long it may take; ${Math.floor(commandTimeoutMs / 1000)} unless told`),
    }),
    example: { command: "grep -n -i 'error' /tmp/data/job.log | head -50" },
  };
}

function shownOf(kept: Kept): string {
  return kept.kind === 'whole' ? kept.text : kept.preview;
}

function fileOf(field: string, kept: Kept): Record<string, string> {
  return kept.kind === 'preview' && kept.path !== undefined ? { [field]: kept.path } : {};
}
