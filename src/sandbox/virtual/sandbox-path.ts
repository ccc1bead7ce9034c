import { toNormalPath } from '../sandbox-path.ts';
import { isSystemPath } from './system-path.ts';

/** The normal form of a path. Throws when nothing can be kept there. */
export function toSandboxPath(path: string): string {
  const normal = toNormalPath(path);
  if (isSystemPath(normal)) throw new Error(`Belongs to the sandbox's shell, use /tmp instead: ${path}`);
  return normal;
}
