import { z } from 'zod';
import { durationMs, envName, httpUrl, matching, nonEmpty, sound } from '../values.ts';

const mcpServer = z
  .strictObject({
    name: matching(/^[a-z][a-z0-9_]{1,19}$/, {
      message: 'is not a name for a source',
      fix: 'use 2 to 20 lower-case letters, digits and _, as in jira; its tools will begin with it',
    }).describe('What the names of its tools begin with'),
    command: nonEmpty().optional().describe('Program to start, which speaks MCP on stdin and stdout'),
    args: z.array(z.string()).default([]).describe('Its arguments; no secrets'),
    passEnvs: z
      .array(envName())
      .default([])
      .describe(
        'Variables that are handed to the program; of all others it gets only PATH, HOME and the like',
      ),
    url: httpUrl().optional().describe('Or the address of a server that speaks MCP over HTTP'),
    tokenEnv: envName().optional().describe('Variable with the bearer token for that address'),
    tools: z
      .array(nonEmpty())
      .min(1)
      .describe('Names of the tools that may be called; list only those that read'),
    notes: nonEmpty().optional().describe('What the model should know: when to use what, and the traps'),
    timeoutMs: durationMs(100).default(30_000).describe('How long one call may take'),
  })
  .refine(({ command, url }) => (command === undefined) !== (url === undefined), {
    message: 'needs either command or url',
    params: { fix: 'set the one and remove the other' },
    when: sound('command', 'url'),
  });

export type McpConfig = z.infer<typeof mcpServer>;

export const mcp = z
  .array(mcpServer)
  .default([])
  .superRefine((servers, context) => {
    for (const [index, { name }] of servers.entries()) {
      const others = [...TAKEN, ...servers.slice(0, index).map((one) => one.name)];
      if (!others.some((other) => canMeet(name, other))) continue;
      context.addIssue({
        code: 'custom',
        path: [index, 'name'],
        message: others.includes(name)
          ? 'is the name of another source'
          : 'begins like the name of another source',
        params: { fix: 'choose another one' },
      });
    }
  })
  .describe('MCP servers whose reading tools the model may use');

const TAKEN = ['gitlab', 'konflux', 'testing_farm', 'sandbox', 'fetch'];

/** Tool c of a_b and tool b_c of a would have the same name. */
function canMeet(one: string, other: string): boolean {
  return `${one}_`.startsWith(`${other}_`) || `${other}_`.startsWith(`${one}_`);
}
