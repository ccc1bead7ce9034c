import { ConfigError } from './problem.ts';
import { findUrlFlaw } from './values.ts';

const VARIABLES = { anthropic: 'ANTHROPIC_BASE_URL', gemini: 'GOOGLE_GEMINI_BASE_URL' };

/** The address in the variable that the vendor's own tools read too, for those who reach it through a proxy. */
export function readBaseUrl(
  provider: keyof typeof VARIABLES,
  env: NodeJS.ProcessEnv = process.env,
): string | undefined {
  const name = VARIABLES[provider];
  const url = env[name]?.trim() || undefined;
  const flaw = url === undefined ? null : findUrlFlaw(url);
  if (flaw) throw new ConfigError('The environment', [{ path: name, ...flaw }]);
  return url;
}
