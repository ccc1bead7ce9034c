import { z } from 'zod';
import { cutText } from '../cut-text.ts';
import { defineProjectTool } from './project-tool.ts';
import { readList } from './read-list.ts';
import { ref } from './repository-args.ts';
import type { Scope } from './scope.ts';

const MAX_SNIPPET = 2_000;
const PER_PAGE = 50;
const MAX_PAGES = 4;

export function createSearchCode(pinned: Scope) {
  return defineProjectTool(pinned, {
    name: 'gitlab_search_code',
    description:
      "Where words occur in the project's code: path, line, and the lines around it. The default branch is searched unless a ref is told, and not every GitLab searches others; what is new in the merge request is in its diff.",
    schema: z.strictObject({
      query: z
        .string()
        .min(2)
        .max(500)
        .describe('Words to look for, such as the name of a function or an error text'),
      ref: ref.describe('Branch or tag'),
    }),
    async read({ query, ref }, { client, projectId }, signal) {
      // gitbeaker's type has no ref here, its request has.
      const options = { projectId, perPage: PER_PAGE, ...(ref && { ref }) };
      const { items: found, isCut } = await readList(
        client,
        (api) => api.Search.all('blobs', query, options),
        { schema: wireBlob, what: 'the search', maxPages: MAX_PAGES },
        signal,
      );
      return {
        kind: 'json',
        value: {
          found: found.map(fromBlob),
          ...(isCut && { note: `Only the first ${found.length} are here; search for something rarer.` }),
        },
      };
    },
  });
}

const wireBlob = z.object({
  path: z.string().nullish(),
  filename: z.string(),
  data: z.string(),
  startline: z.number(),
  ref: z.string().nullish(),
});

function fromBlob({ path, filename, data, startline, ref }: z.infer<typeof wireBlob>) {
  return {
    path: path ?? filename,
    first_line: startline,
    ref: ref ?? null,
    text: cutText(data, MAX_SNIPPET, 'these lines'),
  };
}
