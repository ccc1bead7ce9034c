import type { Problem } from './problem.ts';
import type { Config } from './schema.ts';

/** The API keys that are set, by the name of their variable. */
export function readModelKeys(
  { models }: Config,
  read: (name: string) => string | undefined,
): Map<string, string> {
  const keys = new Map<string, string>();
  for (const { apiKeyEnv } of [...models.main, ...models.side]) {
    const key = apiKeyEnv === undefined ? undefined : read(apiKeyEnv);
    if (apiKeyEnv !== undefined && key !== undefined) keys.set(apiKeyEnv, key);
  }
  return keys;
}

/** A chain without any usable model is a problem; one that lacks some of them still works, with fewer to fall back on. */
export function checkModelKeys(
  { models }: Config,
  keys: ReadonlyMap<string, string>,
): { problems: Problem[]; warnings: string[] } {
  const problems: Problem[] = [];
  const warnings: string[] = [];
  for (const chain of ['main', 'side'] as const) {
    const missing = models[chain].flatMap(({ apiKeyEnv = '' }, index) =>
      apiKeyEnv === '' || keys.has(apiKeyEnv)
        ? []
        : [{ path: `models.${chain}[${index}].apiKeyEnv`, apiKeyEnv }],
    );
    if (missing.length < models[chain].length) {
      warnings.push(
        ...missing.map(({ path, apiKeyEnv }) => `${apiKeyEnv} is not set: ${path} is left out of the chain`),
      );
      continue;
    }
    const names = [...new Set(missing.map(({ apiKeyEnv }) => apiKeyEnv))].join(' or ');
    problems.push({
      path: missing[0]?.path ?? `models.${chain}`,
      message: `no model of the chain can be used: the environment variable ${names} is not set`,
      fix: `put the API key of the provider into ${names}, or name a model under models.${chain} for which you have one`,
    });
  }
  return { problems, warnings };
}
