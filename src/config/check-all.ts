import { type LoadOptions, loadConfig } from './config.ts';
import { ConfigError, type Problem } from './problem.ts';
import { readSecrets, type SecretNeeds } from './read-secrets.ts';

/** Everything that would keep the service from starting, of the file and of the environment, at once. */
export function checkAll(
  options: LoadOptions,
  needs: SecretNeeds,
): { file: string | null; warnings: string[] } {
  const problems: Problem[] = [];
  const loaded = collect(problems, () => loadConfig(options));
  // With a file that can not be used, the usual names of the variables are still worth checking.
  const { config } = loaded ?? loadConfig({ cwd: '/', env: {} });
  const secrets = collect(problems, () => readSecrets(config, needs, options.env));
  if (problems.length > 0) throw new ConfigError(options.file ?? 'The configuration', problems);
  return { file: loaded?.file ?? null, warnings: secrets?.warnings ?? [] };
}

function collect<T>(problems: Problem[], read: () => T): T | null {
  try {
    return read();
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    problems.push(...error.problems);
    return null;
  }
}
