import type { Problem } from './problem.ts';
import { readServiceAccount, type ServiceAccount } from './read-service-account.ts';
import type { Config } from './schema.ts';

/** What opens the models, by the name of its variable, as the models of the config name it. */
export type ModelKeys = {
  modelKeys: ReadonlyMap<string, string>;
  /** For models on Vertex AI. */
  serviceAccounts: ReadonlyMap<string, ServiceAccount>;
};

/**
 * A main chain without any usable model is a problem; one that lacks some of them still works, with fewer to fall
 * back on, and side calls without a model of their own use the main chain.
 */
export function readModelKeys(
  { models }: Config,
  read: (name: string) => string | undefined,
): ModelKeys & { problems: Problem[]; warnings: string[] } {
  const main = variablesOf(models, 'main');
  const modelKeys = new Map<string, string>();
  const serviceAccounts = new Map<string, ServiceAccount>();
  const malformed = new Map<string, Problem>();
  for (const { path, name, isVertex } of [...main, ...variablesOf(models, 'side')]) {
    const value = read(name);
    const account = value !== undefined && isVertex ? readServiceAccount(value) : undefined;
    if (value !== undefined && !isVertex) modelKeys.set(name, value);
    if (account && 'email' in account) serviceAccounts.set(name, account);
    // One variable is one problem, however many models name it.
    else if (account && !malformed.has(name))
      malformed.set(name, { path, message: `the value of ${name} ${account.message}`, fix: account.fix });
  }
  const missing = main.filter(({ name }) => read(name) === undefined);
  const isUsable = missing.length < models.main.length;
  return {
    modelKeys,
    serviceAccounts,
    problems: [...malformed.values(), ...(isUsable ? [] : [toProblem(missing)])],
    warnings: missing.map(({ path, name }) => `${name} is not set: ${path} is left out of the chain`),
  };
}

/** Of the variable that opens a model; a model that needs none has none. */
export function variableOf(model: Config['models']['main'][number]): string | undefined {
  return 'vertex' in model && model.vertex ? model.vertex.credentialsEnv : model.apiKeyEnv;
}

type Variable = { path: string; name: string; isVertex: boolean };

function variablesOf(models: Config['models'], chain: 'main' | 'side'): Variable[] {
  return models[chain].flatMap((model, index) => {
    const isVertex = 'vertex' in model && model.vertex !== undefined;
    const name = variableOf(model);
    const path = `models.${chain}[${index}].${isVertex ? 'vertex.credentialsEnv' : 'apiKeyEnv'}`;
    return name === undefined ? [] : [{ path, name, isVertex }];
  });
}

function toProblem(missing: readonly Variable[]): Problem {
  const names = [...new Set(missing.map(({ name }) => name))].join(' or ');
  return {
    path: missing[0]?.path ?? 'models.main',
    message: `no model of the chain can be used: the environment variable ${names} is not set`,
    fix: `put the API key of the provider into ${names}, or name a model under models.main for which you have one`,
  };
}
