import { posix } from 'node:path';

/** The normal form of an absolute path; `..` can not lead above the root. */
export function toNormalPath(path: string): string {
  if (!path.startsWith('/')) throw new Error(`Not an absolute path in the sandbox: ${path}`);
  if (path.includes('\0'))
    throw new Error(`A path in the sandbox can not hold a NUL: ${JSON.stringify(path)}`);
  const normal = posix.normalize(path);
  return normal.length > 1 && normal.endsWith('/') ? normal.slice(0, -1) : normal;
}

/** The folders above a path, from the top, without the root. */
export function foldersAbove(path: string): string[] {
  const parts = path.split('/').slice(1, -1);
  return parts.map((_, index) => `/${parts.slice(0, index + 1).join('/')}`);
}
