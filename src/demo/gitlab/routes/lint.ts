import { parse, stringify } from 'yaml';
import { notFound } from '../api-error.ts';
import type { Call, Router } from '../call.ts';
import { findCommit } from '../world/find.ts';
import { findFile } from '../world/repository.ts';

const CONFIG = '.gitlab-ci.yml';

/** The project's own configuration, with the local files that it includes. */
export function addLintRoutes(router: Router): void {
  router.get('/projects/:id/ci/lint', (call) => {
    const ref = call.query('content_ref') ?? 'HEAD';
    const commit = findCommit(call.world, call.project(), ref);
    if (commit === undefined) throw notFound('Commit');
    const text = readFile(call, ref, CONFIG);
    if (text === undefined) return toAnswer({ errors: [`Please provide content of ${CONFIG}`] });
    try {
      return merge(call, ref, text);
    } catch (error) {
      return toAnswer({ errors: [error instanceof Error ? error.message : String(error)] });
    }
  });
}

function merge(call: Call, ref: string, text: string) {
  const { include, ...own } = toMap(parse(text));
  const locations = [include ?? []].flat().map((one) => String(toMap(one).local ?? one));
  const included = locations.map((location) => {
    const content = readFile(call, ref, location.replace(/^\//, ''));
    if (content === undefined) throw new Error(`Local file \`${location}\` does not exist!`);
    return toMap(parse(content));
  });
  return toAnswer({
    merged: `---\n${stringify(Object.assign({}, ...included, own))}`,
    includes: locations.map((location) => ({ type: 'local', location, extra: {} })),
  });
}

function readFile(call: Call, ref: string, path: string): string | undefined {
  return findFile(call.world, call.project(), ref, path)?.content.toString();
}

function toAnswer(found: { merged?: string; errors?: string[]; includes?: unknown[] }) {
  const { merged = null, errors = [], includes = [] } = found;
  return { valid: errors.length === 0, errors, warnings: [], merged_yaml: merged, includes };
}

function toMap(value: unknown): Record<string, unknown> {
  return typeof value === 'object' && value !== null ? { ...value } : {};
}
