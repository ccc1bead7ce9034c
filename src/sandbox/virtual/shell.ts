import { RetryableError } from '../../errors.ts';
import { changeFiles, diffFiles, type FileMap } from './file-entry.ts';
import { type ShellMessage, type ShellReply, type ShellRequest, toOwnChanges } from './shell-message.ts';
import { type ProcessLimits, type ShellProcess, startShellProcess } from './shell-process.ts';

/** Runs one command at a time in a process that is kept warm, and ended when the command will not end. */
export interface Shell {
  /** Throws the signal's reason when aborted. */
  run(command: ShellCommand, signal: AbortSignal): Promise<ShellOutcome>;
  close(): Promise<void>;
}

export interface ShellCommand extends Omit<ShellRequest, 'changes'> {
  files: FileMap;
}

export type ShellOutcome =
  | { kind: 'replied'; reply: ShellReply }
  | { kind: 'timed-out' }
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
      let replied = false;
      keepAlive(shell, true);
      try {
        const outcome = await ask(shell, { ...rest, changes: diffFiles(held, files) }, signal);
        if (outcome.kind === 'replied') {
          replied = true;
          held = changeFiles(files, outcome.reply.changes ?? []);
        }
        return outcome;
      } finally {
        // Only a process that has answered is known to be idle.
        if (!replied) await shell.end();
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

async function ask(shell: ShellProcess, request: ShellRequest, signal: AbortSignal): Promise<ShellOutcome> {
  const { child, ready } = shell;
  const { promise, resolve, reject } = Promise.withResolvers<ShellOutcome>();
  const onMessage = (message: ShellMessage) => {
    if (message.kind !== 'reply') return;
    const { changes } = message.reply;
    resolve({ kind: 'replied', reply: { ...message.reply, changes: changes && toOwnChanges(changes) } });
  };
  const onExit = (_code: number | null, by: string | null) => resolve({ kind: 'crashed', signal: by });
  const onAbort = () => reject(signal.reason);
  let timer: NodeJS.Timeout | undefined;

  signal.addEventListener('abort', onAbort);
  ready.then(
    () => {
      child.on('message', onMessage).on('exit', onExit);
      timer = setTimeout(() => resolve({ kind: 'timed-out' }), request.timeoutMs);
      // If it can not be sent the process has ended, and `exit` says so.
      child.send(request, () => undefined);
    },
    (cause: unknown) => reject(new RetryableError('The shell of the sandbox did not start', { cause })),
  );
  return promise.finally(() => {
    clearTimeout(timer);
    signal.removeEventListener('abort', onAbort);
    child.off('message', onMessage).off('exit', onExit);
  });
}
