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

/**
 * A main chain without any usable model is a problem; one that lacks some of them still works, with fewer to fall
 * back on, and side calls without a model of their own use the main chain.
 */
export function checkModelKeys(
  { models }: Config,
  keys: ReadonlyMap<string, string>,
): { problems: Problem[]; warnings: string[] } {
  const missing = (chain: 'main' | 'side') =>
    models[chain].flatMap(({ apiKeyEnv = '' }, index) =>
      apiKeyEnv === '' || keys.has(apiKeyEnv)
        ? []
        : [{ path: `models.${chain}[${index}].apiKeyEnv`, apiKeyEnv }],
    );
  const warnings = missing('main').map(
    ({ path, apiKeyEnv }) => `${apiKeyEnv} is not set: ${path} is left out of the chain`,
  );
  const missingMain = missing('main');
  if (missingMain.length < models.main.length) return { problems: [], warnings };
  const names = [...new Set(missingMain.map(({ apiKeyEnv }) => apiKeyEnv))].join(' or ');
  const problem = {
    path: missingMain[0]?.path ?? 'models.main',
    message: `no model of the chain can be used: the environment variable ${names} is not set`,
    fix: `put the API key of the provider into ${names}, or name a model under models.main for which you have one`,
  };
  return { problems: [problem], warnings };
}
