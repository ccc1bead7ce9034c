// The process in which commands run. It keeps a copy of the files from one command to the next, nothing else.
import { Bash, type BashExecResult, type CommandName, getCommandNames } from 'just-bash';
import { cutUtf8 } from './cut-utf8.ts';
import { changeFiles, type FileMap } from './file-entry.ts';
import { MeteredFs } from './metered-fs.ts';
import { findChanges, putFiles } from './shell-files.ts';
import { toShellLimits } from './shell-limits.ts';
import { type ShellMessage, type ShellReply, type ShellRequest, toOwnChanges } from './shell-message.ts';

let files: FileMap = new Map();

// WebAssembly, whose memory is outside the limit of the heap.
const commands = getCommandNames().filter((name) => name !== 'sqlite3') as CommandName[];

process.on('message', async (request: ShellRequest) => {
  files = changeFiles(files, toOwnChanges(request.changes));
  const reply = await run(request);
  if (reply.changes) files = changeFiles(files, reply.changes);
  send({ kind: 'reply', reply });
});
process.on('disconnect', () => process.exit());
send({ kind: 'ready' });

async function run({ command, maxBytes, maxOutputBytes, timeoutMs }: ShellRequest): Promise<ShellReply> {
  const fs = new MeteredFs(maxBytes);
  const executionLimits = toShellLimits({ maxBytes, timeoutMs });
  const bash = new Bash({ fs, cwd: '/tmp', env: { HOME: '/tmp' }, commands, executionLimits });
  await putFiles(fs, files);
  const result = await bash.exec(command, { rawScript: true }).catch(toFailure);
  const stdout = cutUtf8(result.stdout, maxOutputBytes);
  const stderr = cutUtf8(result.stderr, maxOutputBytes);
  return {
    exitCode: result.exitCode,
    stdout: stdout.text,
    stderr: stderr.text,
    truncated: stdout.truncated || stderr.truncated,
    changes: fs.ranOutOfRoom ? null : await findChanges(fs, files),
  };
}

/** The shell passes on some errors of its files instead of making them the command's. */
function toFailure(error: unknown): Pick<BashExecResult, 'exitCode' | 'stdout' | 'stderr'> {
  const reason = error instanceof Error ? error.message : String(error);
  return { exitCode: 1, stdout: '', stderr: `bash: ${reason}\n` };
}

function send(message: ShellMessage): void {
  process.send?.(message);
}
