import { z } from 'zod';
import { defineProjectTool } from './project-tool.ts';
import { ref, toRef } from './repository-args.ts';
import type { Scope } from './scope.ts';
import { fromWire } from './wire.ts';

export function createGetCiConfig(pinned: Scope) {
  return defineProjectTool(pinned, {
    name: 'gitlab_get_ci_config',
    description:
      "The CI configuration as GitLab sees it at a commit, with everything included and extended, as YAML; before it, whether it is valid, with errors and warnings, and what was included from where. To see a job's script, image, rules, needs and services.",
    schema: z.strictObject({ ref }),
    async read({ ref: wanted }, scope, signal) {
      const at = toRef(scope, wanted);
      const { api } = scope.client.withSignal(signal);
      // gitbeaker's type has only the name that the parameter had before GitLab 16.5.
      const options = { contentRef: at, dryRun: false } as const;
      const answer = await api.Lint.check(scope.projectId, options);
      return {
        kind: 'text',
        of: 'text',
        body: toText(at, fromWire(wireLint, 'the CI configuration', answer)),
      };
    },
  });
}

const wireLint = z.object({
  valid: z.boolean(),
  errors: z.array(z.string()).nullish(),
  warnings: z.array(z.string()).nullish(),
  merged_yaml: z.string().nullish(),
  includes: z.array(z.object({ type: z.string().nullish(), location: z.string().nullish() })).nullish(),
});

function toText(at: string, { valid, errors, warnings, includes, merged_yaml }: z.infer<typeof wireLint>) {
  return [
    `# ${valid ? 'valid' : 'NOT VALID'} at ${at}`,
    ...(errors ?? []).map((error) => `# error: ${toLine(error)}`),
    ...(warnings ?? []).map((warning) => `# warning: ${toLine(warning)}`),
    ...(includes ?? []).map(
      ({ type, location }) => `# includes ${type ?? 'file'}: ${toLine(location ?? '?')}`,
    ),
    merged_yaml ?? '# GitLab gives no merged configuration',
    '',
  ].join('\n');
}

function toLine(text: string): string {
  return text.replace(/\s+/g, ' ');
}
