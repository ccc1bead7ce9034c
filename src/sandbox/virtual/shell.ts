import { RetryableError } from '../../errors.ts';
import { diffFiles, type FileChange, type FileMap } from './file-entry.ts';
import { createPendingFiles, type PendingFiles } from './pending-files.ts';
import type { ShellMessage, ShellReply, ShellRequest } from './shell-message.ts';
import { type ProcessLimits, type ShellProcess, startShellProcess } from './shell-process.ts';

/** Runs one command at a time in a process that is kept warm, and ended when the command will not end. */
export interface Shell {
  /** A command that is aborted before it starts throws the signal's reason. */
  run(command: ShellCommand, signal: AbortSignal): Promise<ShellOutcome>;
  close(): Promise<void>;
}

export interface ShellCommand extends Omit<ShellRequest, 'changes'> {
  files: FileMap;
}

export interface ShellOutcome {
  end: ShellEnd;
  /** What the command had done to the files by then; null when it ran out of room: nothing of it counts. */
  changes: FileChange[] | null;
}

export type ShellEnd =
  | { kind: 'replied'; reply: ShellReply }
  | { kind: 'timed-out' }
  | { kind: 'aborted' }
  /** By its own doing; by a signal when V8 or the kernel had no more memory for it. */
  | { kind: 'crashed'; signal: string | null };

export function createShell(limits: ProcessLimits): Shell {
  let shell = startShellProcess(limits);
  /** What the process holds. */
  let held: FileMap = new Map();

  return {
    async run({ files, ...rest }, signal) {
      signal.throwIfAborted();
      if (shell.ended) {
        shell = startShellProcess(limits);
        held = new Map();
      }
      keepAlive(shell, true);
      try {
        const pending = createPendingFiles(files);
        const request = { ...rest, changes: diffFiles(held, files) };
        const end = await ask(shell, request, { pending, signal });
        const after = pending.settle();
        held = after ?? files;
        return { end, changes: after && diffFiles(files, after) };
      } finally {
        keepAlive(shell, false);
      }
    },
    close: () => shell.end(),
  };
}

/** An idle shell does not hold up the end of the service. */
function keepAlive({ child }: ShellProcess, busy: boolean): void {
  if (busy) {
    child.ref();
    child.channel?.ref();
  } else {
    child.unref();
    child.channel?.unref();
  }
}

interface Asking {
  pending: PendingFiles;
  signal: AbortSignal;
}

/** When it is done the process is idle, or gone and all that it had told is in the pending files. */
async function ask(
  shell: ShellProcess,
  request: ShellRequest,
  { pending, signal }: Asking,
): Promise<ShellEnd> {
  const { child, ready } = shell;
  const { promise, resolve, reject } = Promise.withResolvers<ShellEnd>();
  const onMessage = (message: ShellMessage) => {
    if (message.kind === 'full') pending.discard();
    if (message.kind === 'reply') resolve({ kind: 'replied', reply: message.reply });
    if (message.kind !== 'changed') return;
    try {
      pending.apply(message.changes);
    } catch (error) {
      reject(error);
    }
  };
  const onClose = (_code: number | null, by: string | null) => resolve({ kind: 'crashed', signal: by });
  const onAbort = () => resolve({ kind: 'aborted' });
  let timer: NodeJS.Timeout | undefined;
  let end: ShellEnd | undefined;

  signal.addEventListener('abort', onAbort);
  ready.then(
    () => {
      child.on('message', onMessage).on('close', onClose);
      timer = setTimeout(() => resolve({ kind: 'timed-out' }), request.timeoutMs);
      // If it can not be sent the process has ended, and `close` says so.
      child.send(request, () => undefined);
    },
    (cause: unknown) => reject(new RetryableError('The shell of the sandbox did not start', { cause })),
  );
  try {
    end = await promise;
    return end;
  } finally {
    // Only a process that has answered is known to be idle.
    if (end?.kind !== 'replied') await shell.end();
    clearTimeout(timer);
    signal.removeEventListener('abort', onAbort);
    child.off('message', onMessage).off('close', onClose);
  }
}
