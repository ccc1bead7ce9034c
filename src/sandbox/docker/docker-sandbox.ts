import { Readable } from 'node:stream';
import { markOf, planChanges } from '../archive/find-changes.ts';
import { toRemovedEntry } from '../archive/merge-archives.ts';
import { toWords } from '../ending-words.ts';
import type { FileCaps } from '../file-caps.ts';
import {
  type ExecEnding,
  type ExecOptions,
  type ExecResult,
  type Sandbox,
  SandboxLostError,
  type SandboxPurpose,
} from '../sandbox.ts';
import { toNormalPath } from '../sandbox-path.ts';
import { type Container, ContainerLostError } from './container.ts';
import {
  archiveOf,
  measureFiles,
  namesIn,
  packFiles,
  readFileFrom,
  restoreInto,
  streamFileFrom,
  writeFileInto,
} from './container-files.ts';
import { runCommand } from './run-command.ts';
import { createTurns } from './turns.ts';

export interface DockerSandboxOptions extends FileCaps, Pick<SandboxPurpose, 'openLastSaved'> {
  start: () => Promise<Container>;
  /** For all commands together. */
  jobTimeoutMs: number;
  /** What went wrong behind the back of whoever uses the sandbox. */
  onError: (error: Error) => void;
}

/** One sandbox: a container, and should it break another one in its place, with the files that were last saved. */
export async function createDockerSandbox(options: DockerSandboxOptions): Promise<Sandbox> {
  const { start, openLastSaved, jobTimeoutMs, onError } = options;
  const endsAt = Date.now() + jobTimeoutMs;
  const turns = createTurns();
  let container = await start();
  let replacing: Promise<void> | undefined;
  let closed = false;

  async function execNow(command: string, asked: ExecOptions): Promise<ExecResult> {
    assertOpen();
    asked.signal.throwIfAborted();
    const timeoutMs = Math.min(asked.timeoutMs, endsAt - Date.now());
    if (timeoutMs <= 0) return failed(124, 'timed-out', timeIsOver(jobTimeoutMs));
    const used = container;
    try {
      return await runCommand(used, command, { ...asked, timeoutMs });
    } catch (error) {
      const failure = await toFailure(used, error);
      assertOpen();
      asked.signal.throwIfAborted();
      if (failure instanceof SandboxLostError) return failed(137, 'lost', failure.message);
      throw failure;
    }
  }

  async function withFiles<T>(work: (used: Container) => Promise<T>): Promise<T> {
    const giveBack = await turns.share();
    const used = container;
    try {
      assertOpen();
      return await work(used);
    } catch (error) {
      throw await toFailure(used, error);
    } finally {
      giveBack();
    }
  }

  async function* streamFiles(read: (used: Container) => AsyncIterable<Buffer>) {
    const giveBack = await turns.share();
    const used = container;
    try {
      assertOpen();
      yield* read(used);
    } catch (error) {
      throw await toFailure(used, error);
    } finally {
      giveBack();
    }
  }

  /** The failure to tell of, and a container that works again. */
  async function toFailure(used: Container, error: unknown): Promise<unknown> {
    if (closed) return new Error(CLOSED, { cause: error });
    if (!(error instanceof ContainerLostError)) return error;
    if (used === container)
      replacing ??= replace(error).finally(() => {
        replacing = undefined;
      });
    await replacing;
    return new SandboxLostError(toWords('lost'), { cause: error });
  }

  async function replace(cause: Error): Promise<void> {
    onError(new Error('a sandbox is replaced', { cause }));
    await container.remove().catch(onError);
    container = await start();
    if (closed) return container.remove().catch(onError);
    try {
      const saved = await openLastSaved();
      if (saved) await restoreInto(container, saved, options);
    } catch (error) {
      onError(new Error('a replaced sandbox goes on without files', { cause: error }));
    }
  }

  function assertOpen(): void {
    if (closed) throw new Error(CLOSED);
  }

  return {
    exec: (command, asked) => turns.alone(() => execNow(command, asked)),

    async writeFile(path, content) {
      const target = toNormalPath(path);
      return withFiles((used) => writeFileInto(used, target, content));
    },

    async readFile(path) {
      const target = toNormalPath(path);
      return withFiles((used) => readFileFrom(used, target));
    },

    streamFile(path) {
      const target = toNormalPath(path);
      return Readable.from(streamFiles((used) => streamFileFrom(used, target)));
    },

    async list(folder) {
      const target = toNormalPath(folder);
      return withFiles((used) => namesIn(used, target));
    },

    archive: (folders, keepBytes, onLeftOut) =>
      Readable.from(
        streamFiles((used) => archiveOf(used, folders.map(toNormalPath), { maxBytes: keepBytes, onLeftOut })),
      ),

    async mark(folders) {
      return markOf(await withFiles((used) => measureFiles(used, folders.map(toNormalPath))));
    },

    async findChanges(folders, keepBytes, since) {
      const measured = await withFiles((used) => measureFiles(used, folders.map(toNormalPath)));
      const { mark, leftOut, entries, removed } = planChanges(measured, keepBytes, since);
      if (entries.length + removed.length === 0) return { mark, leftOut, pack: null };
      const packed = [...toRemovedEntry(removed), ...entries];
      return { mark, leftOut, pack: () => Readable.from(streamFiles((used) => packFiles(used, packed))) };
    },

    async restore(archive) {
      return withFiles((used) => restoreInto(used, archive, options));
    },

    async close() {
      if (closed) return;
      closed = true;
      // What can not be removed now ends with our connection to it.
      await container.remove().catch(onError);
    },
  };
}

const CLOSED = 'The sandbox is closed';

function failed(exitCode: number, ending: ExecEnding, words: string): ExecResult {
  return { exitCode, stdout: '', stderr: `${words}\n`, ending, truncated: false };
}

function timeIsOver(jobTimeoutMs: number): string {
  return `The time for all commands together is over (${jobTimeoutMs} ms). Answer with what you have.`;
}
