import { z } from 'zod';
import { NotFoundError, PermanentError } from '../../errors.ts';
import { type Bridge, listBridges } from './bridges.ts';
import { wirePipeline } from './pipelines.ts';
import { PAGING, readList } from './read-list.ts';
import type { Scope } from './scope.ts';
import { fromWire } from './wire.ts';

export interface JobAddress {
  url: string;
  /** As it is in the address, with GitLab's own folder if it has one. */
  projectPath: string;
  jobId: number;
}

/**
 * Which of these jobs ran in a pipeline of the merge request, or in one that such a pipeline started, here or in a
 * project that may be read; by their addresses. What GitLab did not answer is left out.
 */
export type FindOwnJobs = (
  jobs: readonly JobAddress[],
  signal: AbortSignal,
) => Promise<ReadonlyMap<string, boolean>>;

export interface OwnJobsOptions extends Scope {
  /** Of the instance, with its folder. */
  gitlabUrl: string;
}

/** Pipelines whose children are looked for, the newest first, and how far down. */
const MAX_PARENTS = 30;
const MAX_DEPTH = 3;

export function createFindOwnJobs(options: OwnJobsOptions): FindOwnJobs {
  return async (jobs, signal) => {
    const pipelines = createPipelines(options, signal);
    const found = new Map<string, boolean>();
    for (const job of jobs) {
      if (found.has(job.url)) continue;
      try {
        found.set(job.url, await isOwn(options, job, { pipelines, signal }));
      } catch (error) {
        signal.throwIfAborted();
        if (error instanceof NotFoundError) found.set(job.url, false);
      }
    }
    return found;
  };
}

interface Pipelines {
  own(): Promise<z.infer<typeof wirePipeline>[]>;
  /** Ids of those that they started. */
  started(): Promise<ReadonlySet<number>>;
}

async function isOwn(
  scope: OwnJobsOptions,
  { url, projectPath, jobId }: JobAddress,
  { pipelines, signal }: { pipelines: Pipelines; signal: AbortSignal },
): Promise<boolean> {
  const path = toProjectPath(scope.gitlabUrl, url, projectPath);
  if (path === null) return false;
  const { api } = scope.client.withSignal(signal);
  const own = await pipelines.own();
  const { id: projectId, path_with_namespace } = fromWire(wireProject, path, await api.Projects.show(path));
  const isKnown = projectId === scope.projectId || own.some(({ project_id }) => project_id === projectId);
  if (!isKnown && !scope.mayRead?.({ id: projectId, path: path_with_namespace })) return false;
  const job = fromWire(wireJobOfPipeline, `job ${jobId}`, await api.Jobs.show(projectId, jobId));
  return own.some(({ id }) => id === job.pipeline.id) || (await pipelines.started()).has(job.pipeline.id);
}

/** Null when it is not on this GitLab. */
function toProjectPath(gitlabUrl: string, url: string, path: string): string | null {
  const base = new URL(gitlabUrl);
  const folder = base.pathname.replace(/^\/|\/$/g, '');
  if (URL.parse(url)?.host !== base.host) return null;
  if (folder === '') return path;
  return path.startsWith(`${folder}/`) ? path.slice(folder.length + 1) : null;
}

/** Each asked for once, and only if it matters. */
function createPipelines(scope: Scope, signal: AbortSignal): Pipelines {
  let own: ReturnType<Pipelines['own']> | undefined;
  let started: ReturnType<Pipelines['started']> | undefined;
  const pipelines: Pipelines = {
    own: () => {
      own ??= listOwn(scope, signal);
      return own;
    },
    started: () => {
      started ??= pipelines.own().then((all) => listStarted(scope, all, signal));
      return started;
    },
  };
  return pipelines;
}

async function listOwn({ client, projectId, mrIid }: Scope, signal: AbortSignal) {
  const ask = ({ MergeRequests }: typeof client.api) => MergeRequests.allPipelines(projectId, mrIid, PAGING);
  const { items } = await readList(client, ask, { schema: wirePipeline, what: 'the pipelines' }, signal);
  return items.toSorted((a, b) => b.id - a.id);
}

async function listStarted(
  scope: Scope,
  own: readonly { id: number; project_id?: number | null | undefined }[],
  signal: AbortSignal,
): Promise<Set<number>> {
  const started = new Set<number>();
  let parents = own.map(({ id, project_id }) => ({ id, projectId: project_id ?? scope.projectId }));
  let left = MAX_PARENTS;
  for (let depth = 0; depth < MAX_DEPTH; depth += 1) {
    const children: typeof parents = [];
    for (const { id, projectId } of parents.slice(0, left)) {
      left -= 1;
      for (const { pipeline } of await listBridgesIfThere({ ...scope, projectId }, id, signal)) {
        if (!pipeline || started.has(pipeline.id)) continue;
        started.add(pipeline.id);
        children.push({ id: pipeline.id, projectId: pipeline.project ?? projectId });
      }
    }
    parents = children;
  }
  return started;
}

/** What may not be read has no children as far as anybody here knows. */
async function listBridgesIfThere(scope: Scope, pipelineId: number, signal: AbortSignal): Promise<Bridge[]> {
  try {
    return (await listBridges(scope, pipelineId, signal)).items;
  } catch (error) {
    if (error instanceof NotFoundError || error instanceof PermanentError) return [];
    throw error;
  }
}

const wireProject = z.object({ id: z.number(), path_with_namespace: z.string() });
const wireJobOfPipeline = z.object({ id: z.number(), pipeline: z.object({ id: z.number() }) });
