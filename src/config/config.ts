import { existsSync, readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { checkConfig } from './check-config.ts';
import { ConfigError } from './problem.ts';
import type { Config } from './schema.ts';

export { defaultConfigText } from './default-config.ts';
export { findPrice } from './find-price.ts';
export { configJsonSchema } from './json-schema.ts';
export { listSecrets } from './list-secrets.ts';
export { ConfigError, type Problem } from './problem.ts';
export {
  matchProject,
  mayReadProject,
  type Project,
  type ProjectLimits,
  projectLimits,
} from './project-limits.ts';
export { readBaseUrl } from './read-base-url.ts';
export { readSecrets, type SecretNeeds, type Secrets } from './read-secrets.ts';
export type { Config } from './schema.ts';
export { defaultLimits } from './sections/projects.ts';

export type LoadOptions = { file?: string | undefined; cwd?: string; env?: NodeJS.ProcessEnv };

/** The configuration and the file it came from; null stands for the embedded defaults. */
export function loadConfig(options: LoadOptions = {}): { config: Config; file: string | null } {
  const file = findFile(options);
  const checked = checkConfig(file === null ? '' : readText(file));
  if (!checked.ok) throw new ConfigError(file ?? 'The configuration', checked.problems);
  return { config: checked.config, file };
}

function findFile({ file, cwd = process.cwd(), env = process.env }: LoadOptions): string | null {
  const named = file ?? (env.HUMMINGBIRD_CONFIG || undefined);
  if (named !== undefined) return resolve(cwd, named);
  const usual = resolve(cwd, 'hummingbird.yaml');
  return existsSync(usual) ? usual : null;
}

function readText(file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch (cause) {
    const isMissing = cause instanceof Error && 'code' in cause && cause.code === 'ENOENT';
    const problem = isMissing
      ? {
          message: 'the file does not exist',
          fix: 'correct its name, or write one with: hummingbird config init',
        }
      : {
          message: 'the file can not be read',
          fix: 'check that it is a file and that this user may read it',
        };
    throw new ConfigError(file, [{ path: '', ...problem }], { cause });
  }
}
