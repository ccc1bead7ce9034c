import { posix } from 'node:path';
import { InMemoryFs } from 'just-bash';

/**
 * The shell's files for one command, with three things put right: it remembers that there was no room for a
 * write, since the command may have gone on; writes go through symbolic links, where the original loses what is
 * written below one; and /dev/null forgets, where the original keeps what is written.
 */
export class MeteredFs extends InMemoryFs {
  ranOutOfRoom = false;

  constructor(maxBytes: number) {
    super({}, { maxTotalBytes: maxBytes + LAYOUT_BYTES });
  }

  override async writeFile(...[path, ...rest]: Parameters<InMemoryFs['writeFile']>): Promise<void> {
    if (path === DEV_NULL) return;
    await this.noticing(super.writeFile(await this.followed(path), ...rest));
  }

  override async appendFile(...[path, ...rest]: Parameters<InMemoryFs['appendFile']>): Promise<void> {
    if (path === DEV_NULL) return;
    await this.noticing(super.appendFile(await this.followed(path), ...rest));
  }

  override async mkdir(...[path, ...rest]: Parameters<InMemoryFs['mkdir']>): Promise<void> {
    await super.mkdir(await this.followed(path), ...rest);
  }

  override async cp(...[from, to, ...rest]: Parameters<InMemoryFs['cp']>): Promise<void> {
    await this.noticing(super.cp(await this.inRealFolder(from), await this.inRealFolder(to), ...rest));
  }

  override async mv(from: string, to: string): Promise<void> {
    await super.mv(await this.inRealFolder(from), await this.inRealFolder(to));
  }

  override async rm(...[path, ...rest]: Parameters<InMemoryFs['rm']>): Promise<void> {
    await super.rm(await this.inRealFolder(path), ...rest);
  }

  override async symlink(target: string, path: string): Promise<void> {
    await super.symlink(target, await this.inRealFolder(path));
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

  private async noticing(write: Promise<void>): Promise<void> {
    try {
      await write;
    } catch (error) {
      if (error instanceof Error && error.message.startsWith('ENOSPC')) this.ranOutOfRoom = true;
      throw error;
    }
  }
}

const DEV_NULL = '/dev/null';

/** Room for the stubs the shell puts into /bin and the like, which are not the sandbox's files. */
const LAYOUT_BYTES = 64 * 1024;
