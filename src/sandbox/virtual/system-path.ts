/** Of the shell itself, made anew for each command: nothing in these folders is kept. */
const SYSTEM_FOLDERS = ['/bin', '/usr/bin', '/dev', '/proc'];

export function isSystemPath(path: string): boolean {
  return SYSTEM_FOLDERS.some((folder) => path === folder || path.startsWith(`${folder}/`));
}
