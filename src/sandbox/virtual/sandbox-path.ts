import { posix } from 'node:path';

/** Of the shell itself, made anew for each command: nothing in these folders is kept. */
const SYSTEM_FOLDERS = ['/bin', '/usr/bin', '/dev', '/proc'];

/** The normal form of a path; `..` can not lead above the root. Throws when nothing can be kept there. */
export function toSandboxPath(path: string): string {
  if (!path.startsWith('/')) throw new Error(`Not an absolute path in the sandbox: ${path}`);
  if (path.includes('\0'))
    throw new Error(`A path in the sandbox can not hold a NUL: ${JSON.stringify(path)}`);
  const normal = posix.normalize(path);
  const trimmed = normal.length > 1 && normal.endsWith('/') ? normal.slice(0, -1) : normal;
  if (isSystemPath(trimmed)) throw new Error(`Belongs to the sandbox's shell, use /tmp instead: ${path}`);
  return trimmed;
}

export function isSystemPath(path: string): boolean {
  return SYSTEM_FOLDERS.some((folder) => path === folder || path.startsWith(`${folder}/`));
}

/** The folders above a path, from the top, without the root. */
export function foldersAbove(path: string): string[] {
  const parts = path.split('/').slice(1, -1);
  return parts.map((_, index) => `/${parts.slice(0, index + 1).join('/')}`);
}
