import { matchesGlob } from './glob.ts';
import type { Config } from './schema.ts';

export type Project = { id: number; path: string };
export type ProjectLimits = Config['projects'][string];

/** The limits of a project, or null if the allowlist does not name it. */
export function projectLimits(config: Pick<Config, 'projects'>, project: Project): ProjectLimits | null {
  return matchProject(config.projects, project);
}

/** Whether it may be read on behalf of another project's merge request. */
export function mayReadProject({ gitlab }: Pick<Config, 'gitlab'>, project: Project): boolean {
  return gitlab.readProjects.some((pattern) => means(pattern, project));
}

/** The value under the most specific pattern that means the project, or null. */
export function matchProject<Value>(map: Readonly<Record<string, Value>>, project: Project): Value | null {
  const [best] = Object.entries(map)
    .filter(([pattern]) => means(pattern, project))
    .sort(([one], [other]) => bySpecificity(one, other));
  return best ? best[1] : null;
}

function means(pattern: string, { id, path }: Project): boolean {
  return pattern === String(id) || matchesGlob(pattern.toLowerCase(), path.toLowerCase());
}

function bySpecificity(one: string, other: string): number {
  const [left, right] = [specificity(one), specificity(other)];
  const decisive = left.findIndex((rank, index) => rank !== right[index]);
  return (right[decisive] ?? 0) - (left[decisive] ?? 0);
}

/** What is compared, in this order: exact, longest literal prefix, most literal characters, least depth. */
function specificity(pattern: string): number[] {
  const prefix = pattern.indexOf('*');
  if (prefix === -1) return [1];
  return [0, prefix, pattern.replaceAll('*', '').length, -pattern.split('**').length];
}
