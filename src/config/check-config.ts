import { explainIssue } from './explain-issue.ts';
import { formatPath, type LocatedFlaw, type Problem } from './problem.ts';
import { readYaml, type YamlFile } from './read-yaml.ts';
import { type Config, configSchema } from './schema.ts';

export type Checked = { ok: true; config: Config } | { ok: false; problems: Problem[] };

/** Checks the text of a configuration file and finds all of its problems, whatever their kind. */
export function checkConfig(text: string): Checked {
  const yaml = readYaml(text);
  const document = withoutEmptySections(yaml.value);
  const result = configSchema.safeParse(document);
  const issues = result.error?.issues ?? [];
  const flaws = [...yaml.secrets, ...issues.flatMap((issue) => explainIssue(issue, document))];
  const problems = [...yaml.syntaxProblems, ...toProblems(flaws, yaml)].sort(byLine);
  if (result.success && problems.length === 0) return { ok: true, config: result.data };
  return { ok: false, problems };
}

/** A section whose keys are all commented out is null in YAML, and means its defaults. */
function withoutEmptySections(value: unknown): unknown {
  if (value === null || value === undefined) return {};
  if (typeof value !== 'object' || Array.isArray(value)) return value;
  return Object.fromEntries(
    Object.entries(value).flatMap(([section, content]) => {
      // An allowlist that was emptied must not turn into the default, which allows everything.
      if (section === 'projects') return [[section, withoutEmptyLimits(content ?? {})]];
      return content === null ? [] : [[section, content]];
    }),
  );
}

function withoutEmptyLimits(projects: unknown): unknown {
  if (typeof projects !== 'object' || projects === null || Array.isArray(projects)) return projects;
  return Object.fromEntries(Object.entries(projects).map(([pattern, limits]) => [pattern, limits ?? {}]));
}

function toProblems(flaws: readonly LocatedFlaw[], yaml: YamlFile): Problem[] {
  const problems = new Map<string, Problem>();
  for (const { path, message, fix } of flaws) {
    const place = formatPath(path);
    // One message for each place: a secret under an unknown key is one mistake.
    if (problems.has(place) || !yaml.isReadable(path)) continue;
    const line = yaml.lineOf(path);
    problems.set(place, { path: place, ...(line === undefined ? {} : { line }), message, fix });
  }
  return [...problems.values()];
}

function byLine(one: Problem, other: Problem): number {
  return (one.line ?? 0) - (other.line ?? 0);
}
