import { z } from 'zod';
import { PAGING, readList, toCutNote } from './read-list.ts';
import { defineTool, type Scope } from './scope.ts';

export function createListPipelines({ client, projectId, mrIid }: Scope) {
  return defineTool({
    name: 'gitlab_list_pipelines',
    description:
      'The pipelines of the merge request, newest first: id, status, source, commit (sha), when created, link. Older ones show whether it passed before.',
    schema: z.strictObject({}),
    async read(_args, signal) {
      const list = await readList(
        client,
        (api) => api.MergeRequests.allPipelines(projectId, mrIid, PAGING),
        { schema: wirePipeline, what: 'the pipelines' },
        signal,
      );
      const found = list.items.toSorted((a, b) => b.id - a.id);
      const pipelines = found.map((pipeline) => fromPipeline(pipeline, projectId));
      return { kind: 'json', value: { pipelines, ...toCutNote(list, 'pipelines') } };
    },
  });
}

export const wirePipeline = z.object({
  id: z.number(),
  project_id: z.number().nullish(),
  status: z.string(),
  source: z.string().nullish(),
  sha: z.string(),
  ref: z.string().nullish(),
  created_at: z.string().nullish(),
  web_url: z.string(),
});

export function fromPipeline(pipeline: z.infer<typeof wirePipeline>, projectId: number) {
  const isElsewhere = typeof pipeline.project_id === 'number' && pipeline.project_id !== projectId;
  return {
    id: pipeline.id,
    status: pipeline.status,
    source: pipeline.source ?? null,
    sha: pipeline.sha,
    created: pipeline.created_at ?? null,
    web_url: pipeline.web_url,
    ...(isElsewhere && { in_other_project: true, project: pipeline.project_id }),
  };
}
