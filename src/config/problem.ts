import { looksLikeSecret } from './secret-shape.ts';

/** One mistake, where it is and how to mend it. Never contains the value of a secret. */
export type Problem = {
  /** Where in the configuration, for example `projects['group/app'].usdPerDay`; empty for the file as a whole. */
  path: string;
  /** Line of the YAML file, where there is one. */
  line?: number;
  message: string;
  fix: string;
};

export type Path = readonly PropertyKey[];

/** What is wrong with one value, before it is known where that value stands. */
export type Flaw = { message: string; fix: string };

export type LocatedFlaw = Flaw & { path: Path };

/** Carries every problem at once, so that one round of mending is enough. */
export class ConfigError extends Error {
  override readonly name = 'ConfigError';
  readonly problems: readonly Problem[];

  constructor(source: string, problems: readonly Problem[], options: { cause?: unknown } = {}) {
    const count = problems.length === 1 ? '1 problem' : `${problems.length} problems`;
    super([`${source} has ${count}:`, ...problems.map(toLine)].join('\n'), options);
    this.problems = problems;
  }
}

export function formatPath(path: Path): string {
  return path.map((segment, index) => formatSegment(segment, index === 0)).join('');
}

function toLine({ path, line, message, fix }: Problem): string {
  const place = [line === undefined ? '' : `line ${line}`, path].filter((part) => part !== '').join(', ');
  return `  ${place === '' ? '' : `${place}: `}${message}. Fix: ${fix}${fix.endsWith('?') ? '' : '.'}`;
}

function formatSegment(segment: PropertyKey, isFirst: boolean): string {
  if (typeof segment === 'number') return `[${segment}]`;
  const key = String(segment);
  // A secret pasted as a key would otherwise end up in the message.
  if (looksLikeSecret(key)) return `['(a secret)']`;
  if (!/^[A-Za-z_]\w*$/.test(key)) return `['${key}']`;
  return isFirst ? key : `.${key}`;
}
