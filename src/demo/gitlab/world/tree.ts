// The repository at a ref: its files, its folders, its lines.
import type { Project, StoredFile } from '../model.ts';
import type { World } from '../state.ts';
import { findFile } from './repository.ts';

export type TreeEntry = { path: string; type: 'tree' | 'blob' };

export function filesAt(world: World, project: Project, ref: string): StoredFile[] {
  const paths = new Set(
    world.files.filter(({ projectId }) => projectId === project.id).map(({ path }) => path),
  );
  return [...paths].sort().flatMap((path) => findFile(world, project, ref, path) ?? []);
}

/** What is in a folder, folders first; undefined when there is no such folder. */
export function listTree(
  files: readonly StoredFile[],
  folder: string,
  options: { recursive: boolean },
): TreeEntry[] | undefined {
  const prefix = folder === '' ? '' : `${folder}/`;
  const inside = files.map(({ path }) => path).filter((path) => path.startsWith(prefix));
  if (inside.length === 0 && folder !== '') return undefined;
  const entries = new Map<string, TreeEntry>();
  for (const path of inside) {
    const parts = path.slice(prefix.length).split('/');
    const deepest = options.recursive ? parts.length : 1;
    for (let depth = 1; depth <= deepest; depth += 1) {
      const entry = prefix + parts.slice(0, depth).join('/');
      entries.set(entry, { path: entry, type: depth < parts.length ? 'tree' : 'blob' });
    }
  }
  return [...entries.values()].sort((a, b) => rankOf(a) - rankOf(b) || (a.path < b.path ? -1 : 1));
}

export type Hit = { path: string; firstLine: number; text: string };

/** The lines around each place, without regard to upper and lower case, as git grep finds them. */
export function searchFiles(files: readonly StoredFile[], words: string): Hit[] {
  const wanted = words.toLowerCase();
  return files.flatMap(({ path, content }) => {
    const lines = content.toString().split('\n');
    return lines.flatMap((line, index) => {
      if (!line.toLowerCase().includes(wanted)) return [];
      const first = Math.max(0, index - AROUND);
      return { path, firstLine: first + 1, text: `${lines.slice(first, index + AROUND + 1).join('\n')}\n` };
    });
  });
}

const AROUND = 2;

function rankOf({ type }: TreeEntry): number {
  return type === 'tree' ? 0 : 1;
}
