// The process in which commands run. It keeps a copy of the files from one command to the next, nothing else.
import { Bash, type BashExecResult, type CommandName, DefenseInDepthBox, getCommandNames } from 'just-bash';
import { createChangeReport } from './change-report.ts';
import { cutUtf8 } from './cut-utf8.ts';
import { changeFiles, type FileMap } from './file-entry.ts';
import { MeteredFs } from './metered-fs.ts';
import { putFiles } from './shell-files.ts';
import { toShellLimits } from './shell-limits.ts';
import { type ShellMessage, type ShellReply, type ShellRequest, toOwnChanges } from './shell-message.ts';
import { stopClock } from './stop-clock.ts';

let files: FileMap = new Map();

// WebAssembly, whose memory is outside the limit of the heap.
const commands = getCommandNames().filter((name) => name !== 'sqlite3') as CommandName[];

const [, , stillAtMs] = process.argv;
if (stillAtMs !== undefined) stopClock(Number(stillAtMs));

process.on('message', async (request: ShellRequest) => {
  files = changeFiles(files, toOwnChanges(request.changes));
  await send({ kind: 'reply', reply: await run(request) });
});
process.on('disconnect', () => process.exit());
await send({ kind: 'ready' });

async function run({ command, maxBytes, maxOutputBytes, timeoutMs }: ShellRequest): Promise<ShellReply> {
  const fs = new MeteredFs(maxBytes);
  const executionLimits = toShellLimits({ maxBytes, timeoutMs });
  const bash = new Bash({ fs, cwd: '/tmp', env: { HOME: '/tmp' }, commands, executionLimits });
  await putFiles(fs, files);
  const report = createChangeReport(fs, files, send);
  fs.watcher = report;
  const result = await bash.exec(command, { rawScript: true }).catch(toFailure);
  files = (await report.finish()) ?? files;
  const stdout = cutUtf8(result.stdout, maxOutputBytes);
  const stderr = cutUtf8(result.stderr, maxOutputBytes);
  return {
    exitCode: result.exitCode,
    stdout: stdout.text,
    stderr: stderr.text,
    truncated: stdout.truncated || stderr.truncated,
  };
}

/** The shell passes on some errors of its files instead of making them the command's. */
function toFailure(error: unknown): Pick<BashExecResult, 'exitCode' | 'stdout' | 'stderr'> {
  const reason = error instanceof Error ? error.message : String(error);
  return { exitCode: 1, stdout: '', stderr: `bash: ${reason}\n` };
}

/** Done when the message is with the system, where it stays if this process is ended. */
function send(message: ShellMessage): Promise<void> {
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  // The shell guards this process' channel from whatever runs in a command; its files are ours.
  DefenseInDepthBox.runTrusted(() =>
    process.send?.(message, (error: Error | null) => (error ? reject(error) : resolve())),
  );
  return promise;
}
