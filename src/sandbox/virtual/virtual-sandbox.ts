import { Readable } from 'node:stream';
import { markOf, planChanges } from '../archive/find-changes.ts';
import { toRemovedEntry } from '../archive/merge-archives.ts';
import { planArchive } from '../archive/plan-archive.ts';
import { toWords } from '../ending-words.ts';
import { type FileCaps, tooManyBytes } from '../file-caps.ts';
import {
  type ExecEnding,
  type ExecOptions,
  type ExecResult,
  type Sandbox,
  SandboxFullError,
} from '../sandbox.ts';
import { collectBytes } from './collect-bytes.ts';
import { type FileChange, toStoredFile } from './file-entry.ts';
import { createFileTree } from './file-tree.ts';
import { measureFiles, packArchive } from './pack-archive.ts';
import { resolveLinks } from './resolve-links.ts';
import { toSandboxPath } from './sandbox-path.ts';
import { createShell } from './shell.ts';
import type { ProcessLimits } from './shell-process.ts';
import { unpackArchive } from './unpack-archive.ts';

/**
 * One sandbox. Its files are here, its commands run in another process on a copy of them, which tells of each
 * change as it happens. What a command had done to the files is taken over when it ends, however it ends; one
 * that ran out of room has changed nothing. What comes in by `writeFile` meanwhile stays, unless the command
 * wrote there.
 */
export function createVirtualSandbox(caps: FileCaps & ProcessLimits): Sandbox {
  const { maxBytes } = caps;
  const tree = createFileTree(caps);
  const shell = createShell(caps);
  let closed = false;
  let lastCommand: Promise<unknown> = Promise.resolve();
  let incomingBytes = 0;
  tree.apply(['/tmp/_out', '/tmp/data'].map((path) => ({ path, entry: { kind: 'folder' } })));

  async function execNow(command: string, options: ExecOptions): Promise<ExecResult> {
    assertOpen();
    const { maxOutputBytes, timeoutMs, signal } = options;
    const running = shell.run({ command, files: tree.files(), maxBytes, maxOutputBytes, timeoutMs }, signal);
    // Whatever closing does to the process, closing is the reason.
    const { end, changes } = await running.finally(assertOpen);
    const kept = takeOver(changes);
    if (end.kind === 'aborted') throw signal.reason;
    if (end.kind === 'timed-out') return failed('timed-out', toWords('timed-out', { timeoutMs }), kept);
    if (end.kind === 'crashed') return crashed(end.signal, kept);
    const result: ExecResult = { ...end.reply, ending: 'exited' };
    if (kept.kind === 'changes') return result;
    return { ...result, exitCode: result.exitCode || 1, stderr: `${result.stderr}${toNotice(kept)}\n` };
  }

  function takeOver(changes: readonly FileChange[] | null): Kept {
    try {
      if (!changes) throw tooManyBytes(maxBytes);
      tree.apply(changes);
      return { kind: 'changes', count: changes.length };
    } catch (error) {
      if (!(error instanceof SandboxFullError)) throw error;
      return { kind: 'nothing', reason: error.message };
    }
  }

  function bytesAt(path: string): Uint8Array | null {
    const target = resolveLinks(tree.files(), toSandboxPath(path));
    const entry = target === null ? undefined : tree.files().get(target);
    return entry?.kind === 'file' ? entry.bytes : null;
  }

  function assertOpen(): void {
    if (closed) throw new Error('The sandbox is closed');
  }

  return {
    exec(command, options) {
      const result = lastCommand.then(() => execNow(command, options));
      lastCommand = result.catch(() => undefined);
      return result;
    },

    async writeFile(path, content) {
      assertOpen();
      const target = resolveLinks(tree.files(), toSandboxPath(path));
      if (target === null) throw new Error(`Its links go in a circle: ${path}`);
      let ownBytes = 0;
      try {
        const bytes = await collectBytes(content, (count) => {
          ownBytes += count;
          incomingBytes += count;
          tree.assertRoom(incomingBytes, target);
        });
        tree.put(target, toStoredFile(bytes, caps.stillAtMs));
        return bytes.byteLength;
      } finally {
        incomingBytes -= ownBytes;
      }
    },

    async readFile(path) {
      const bytes = bytesAt(path);
      return bytes && Buffer.from(bytes);
    },

    // Nobody writes into the bytes of a file, so they need not be copied.
    streamFile: (path) => Readable.from(toSlices(bytesAt(path) ?? new Uint8Array())),

    async list(folder) {
      const target = resolveLinks(tree.files(), toSandboxPath(folder));
      return target === null ? [] : tree.namesIn(target);
    },

    archive(folders, keepBytes, onLeftOut) {
      const files = tree.files();
      const { entries, leftOut } = planArchive(measureFiles(files, folders), keepBytes);
      onLeftOut?.(leftOut);
      return packArchive(files, entries);
    },

    mark: async (folders) => markOf(measureFiles(tree.files(), folders)),

    async findChanges(folders, keepBytes, since) {
      const files = tree.files();
      const plan = planChanges(measureFiles(files, folders), keepBytes, since);
      const { mark, leftOut, entries, removed } = plan;
      if (entries.length + removed.length === 0) return { mark, leftOut, pack: null };
      return { mark, leftOut, pack: () => packArchive(files, [...toRemovedEntry(removed), ...entries]) };
    },

    async restore(archive) {
      assertOpen();
      const { changes, leftOut } = await unpackArchive(archive, caps);
      tree.apply(changes);
      return leftOut;
    },

    async close() {
      closed = true;
      await shell.close();
    },
  };
}

const SLICE_BYTES = 64 * 1024;

function* toSlices(bytes: Uint8Array) {
  for (let at = 0; at < bytes.byteLength; at += SLICE_BYTES)
    yield Buffer.from(bytes.buffer, bytes.byteOffset + at, Math.min(SLICE_BYTES, bytes.byteLength - at));
}

type Kept = { kind: 'changes'; count: number } | { kind: 'nothing'; reason: string };

function toNotice(kept: Kept): string {
  if (kept.kind === 'nothing') return `${kept.reason} Nothing it wrote was kept.`;
  if (kept.count === 0) return 'It had changed no files by then.';
  return `What it had changed by then was kept (files and folders: ${kept.count}), what it was still writing was not.`;
}

function crashed(signal: string | null, kept: Kept): ExecResult {
  if (signal) return failed('out-of-memory', toWords('out-of-memory'), kept);
  return failed('signal', 'The command was ended: the shell failed.', kept);
}

function failed(ending: ExecEnding, words: string, kept: Kept): ExecResult {
  const exitCode = ending === 'timed-out' ? 124 : 137;
  return { exitCode, stdout: '', stderr: `${words} ${toNotice(kept)}\n`, ending, truncated: false };
}
