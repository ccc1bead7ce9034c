import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

export interface ShellProcess {
  child: ChildProcess;
  /** Rejects when the process could not start. */
  ready: Promise<unknown>;
  /** It is gone, by itself or by `end`. */
  readonly ended: boolean;
  /** Done when it is gone and all it had said has been heard. */
  end(): Promise<void>;
}

export interface ProcessLimits {
  /** Of what the shell's own code holds; the contents of files lie outside. */
  heapMb: number;
  /** What time it always is for a command; the real one if undefined. */
  stillAtMs: number | undefined;
}

/**
 * Starts a Node.js with the shell in it. A process and not a thread: a thread that runs out of memory can take
 * the whole service with it, since not every allocation of V8 can be interrupted.
 */
export function startShellProcess({ heapMb, stillAtMs }: ProcessLimits): ShellProcess {
  const child = fork(MAIN, stillAtMs === undefined ? [] : [`${stillAtMs}`], {
    // Nothing of the host goes in, not even where it is, and nothing but answers comes out. Should code ever
    // break out of the shell, it still can read no file but the shell's own, write none and start nothing.
    env: { TZ: 'UTC' },
    cwd: tmpdir(),
    stdio: ['ignore', 'ignore', 'ignore', 'ipc'],
    serialization: 'advanced',
    execArgv: [
      `--max-old-space-size=${heapMb}`,
      '--permission',
      ...READABLE.map((path) => `--allow-fs-read=${path}`),
    ],
  });

  let ended = false;
  child.once('exit', () => {
    ended = true;
  });
  const closed = new Promise<void>((resolve) => {
    child.once('close', () => resolve());
    // Without a pid it never started, and nothing else will follow.
    child.on('error', () => {
      if (child.pid !== undefined) return;
      ended = true;
      resolve();
    });
  });
  const ready = Promise.race([once(child, 'message'), closed.then(failToStart)]);
  // Whoever runs the next command hears of it.
  ready.catch(() => undefined);

  return {
    child,
    ready,
    get ended() {
      return ended;
    },
    async end() {
      // It may have been idle, and then nothing else keeps this process waiting for its end.
      child.ref();
      child.channel?.ref();
      child.kill('SIGKILL');
      await closed;
    },
  };
}

const FOLDER = import.meta.dirname;
const MAIN = join(FOLDER, 'shell-main.ts');
const PACKAGE_JSON = join(FOLDER, '../../../package.json');
const JUST_BASH = fileURLToPath(import.meta.resolve('just-bash'));

/** Of node_modules all: the shell's package has its own there. */
const READABLE = [FOLDER, PACKAGE_JSON, toModulesFolder(JUST_BASH)];

function toModulesFolder(file: string): string {
  const folder = dirname(file);
  return folder.endsWith('node_modules') || folder === file ? folder : toModulesFolder(folder);
}

function failToStart(): never {
  throw new Error('The process of the shell ended before it was ready');
}
