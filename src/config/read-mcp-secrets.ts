import type { Problem } from './problem.ts';
import type { Config } from './schema.ts';

/** By the name of the server: its token, and the variables that are handed to it. */
export type McpSecrets = Map<string, { token: string | undefined; env: Record<string, string> }>;

export function readMcpSecrets({ sources }: Config, read: (name: string) => string | undefined) {
  const secrets: McpSecrets = new Map();
  const problems: Problem[] = [];
  for (const [index, { name, tokenEnv, passEnvs }] of sources.mcp.entries()) {
    const env: Record<string, string> = {};
    const require = (variable: string, key: string): string | undefined => {
      const value = read(variable);
      if (value === undefined) problems.push(toProblem(`sources.mcp[${index}].${key}`, variable));
      return value;
    };
    for (const variable of passEnvs) {
      const value = require(variable, 'passEnvs');
      if (value !== undefined) env[variable] = value;
    }
    secrets.set(name, { token: tokenEnv === undefined ? undefined : require(tokenEnv, 'tokenEnv'), env });
  }
  return { secrets, problems };
}

function toProblem(path: string, variable: string): Problem {
  return {
    path,
    message: `the environment variable ${variable} is not set`,
    fix: `put what the MCP server needs into ${variable}, or remove it from the section`,
  };
}
