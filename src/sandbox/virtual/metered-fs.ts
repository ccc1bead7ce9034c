import { posix } from 'node:path';
import { InMemoryFs } from 'just-bash';

/** Hears of what happens to the files; the command goes on when it has answered. */
export interface FsWatcher {
  changed(...paths: ChangedPath[]): Promise<void>;
  /** There was no room for a write; the command may go on. */
  ranOutOfRoom(): Promise<void>;
}

export interface ChangedPath {
  path: string;
  /** Where its bytes came from, if from another path. */
  base?: string;
}

/**
 * The shell's files for one command, with three things put right: every change is told, and that there was no
 * room for a write; writes go through symbolic links, where the original loses what is written below one; and
 * /dev/null forgets, where the original keeps what is written.
 */
export class MeteredFs extends InMemoryFs {
  watcher: FsWatcher | null = null;

  constructor(maxBytes: number) {
    super({}, { maxTotalBytes: maxBytes + LAYOUT_BYTES });
  }

  override async writeFile(...[path, ...rest]: Parameters<InMemoryFs['writeFile']>): Promise<void> {
    if (path === DEV_NULL) return;
    const target = await this.followed(path);
    await this.finish(super.writeFile(target, ...rest), { path: target });
  }

  override async appendFile(
    ...[path, content, ...rest]: Parameters<InMemoryFs['appendFile']>
  ): Promise<void> {
    if (path === DEV_NULL) return;
    const target = await this.followed(path);
    // How the shell opens a file for `>>`; the original would copy all of it.
    if (content.length === 0 && (await this.exists(target)) && (await this.stat(target)).isFile) return;
    await this.finish(super.appendFile(target, content, ...rest), { path: target });
  }

  override async mkdir(...[path, ...rest]: Parameters<InMemoryFs['mkdir']>): Promise<void> {
    const target = await this.followed(path);
    await this.finish(super.mkdir(target, ...rest), { path: target });
  }

  override async cp(...[from, to, ...rest]: Parameters<InMemoryFs['cp']>): Promise<void> {
    const [base, target] = [await this.inRealFolder(from), await this.inRealFolder(to)];
    await this.finish(super.cp(base, target, ...rest), { path: target, base });
  }

  override async mv(from: string, to: string): Promise<void> {
    const [base, target] = [await this.inRealFolder(from), await this.inRealFolder(to)];
    await this.finish(super.mv(base, target), { path: target, base }, { path: base });
  }

  override async rm(...[path, ...rest]: Parameters<InMemoryFs['rm']>): Promise<void> {
    const target = await this.inRealFolder(path);
    await this.finish(super.rm(target, ...rest), { path: target });
  }

  override async symlink(target: string, link: string): Promise<void> {
    const path = await this.inRealFolder(link);
    await this.finish(super.symlink(target, path), { path });
  }

  override async link(from: string, to: string): Promise<void> {
    const [base, target] = [await this.inRealFolder(from), await this.inRealFolder(to)];
    await this.finish(super.link(base, target), { path: target, base });
  }

  override async chmod(path: string, mode: number): Promise<void> {
    const target = await this.followed(path);
    await this.finish(super.chmod(target, mode), { path: target });
  }

  override async utimes(path: string, accessed: Date, modified: Date): Promise<void> {
    const target = await this.followed(path);
    await this.finish(super.utimes(target, accessed, modified), { path: target });
  }

  /** The path with all links replaced, as far as it exists. */
  private async followed(path: string): Promise<string> {
    if (path === '/') return path;
    return (await this.exists(path)) ? this.realpath(path) : this.inRealFolder(path);
  }

  /** The path with the links above it replaced; itself it may be a link. */
  private async inRealFolder(path: string): Promise<string> {
    if (path === '/') return path;
    const folder = await this.followed(posix.dirname(path));
    if ((await this.exists(folder)) && !(await this.stat(folder)).isDirectory) {
      throw new Error(`ENOTDIR: not a directory, open '${path}'`);
    }
    return posix.join(folder, posix.basename(path));
  }

  private async finish(change: Promise<void>, ...paths: ChangedPath[]): Promise<void> {
    try {
      await change;
    } catch (error) {
      if (error instanceof Error && error.message.startsWith('ENOSPC')) await this.watcher?.ranOutOfRoom();
      throw error;
    }
    await this.watcher?.changed(...paths);
  }
}

const DEV_NULL = '/dev/null';

/** Room for the stubs the shell puts into /bin and the like, which are not the sandbox's files. */
const LAYOUT_BYTES = 64 * 1024;
