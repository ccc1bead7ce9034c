import { z } from 'zod';
import { cutWords } from '../../cut-words.ts';
import { NotFoundError } from '../../errors.ts';
import type { GitlabClient } from '../../gitlab/client.ts';
import type { MergeRequest } from './merge-requests.ts';
import { wirePipeline } from './pipelines.ts';
import { PAGING, readList } from './read-list.ts';
import { fromWire } from './wire.ts';

/** A pipeline, job or external status that failed and was not allowed to. */
export interface Failure {
  /** `pipeline/12` or `job/34`; GitLab numbers external statuses and jobs together. */
  id: string;
  /** Chosen by strangers. */
  name: string;
  pipelineId: number;
}

export interface PipelineRef {
  id: number;
  projectId: number;
}

export interface HeadState {
  /** In the newest pipelines of the merge request's newest commit; empty when nothing fails there. */
  failures: Failure[];
  /** Those pipelines, newest first. */
  pipelines: HeadPipeline[];
}

export interface HeadPipeline extends PipelineRef {
  sha: string;
  ref: string;
  source: string;
  status: string;
  webUrl: string;
}

export interface CommitFailures {
  /** `heardOf` is a pipeline that counts even if no list names it: an event has told of its failure. */
  read(mr: MergeRequest, heardOf: PipelineRef | null, signal: AbortSignal): Promise<HeadState>;
  /** How a pipeline ended, as the event tells it. */
  readEnd(
    pipeline: PipelineRef,
    signal: AbortSignal,
  ): Promise<{ failedJobIds: number[]; finishedAt: string | null }>;
}

const MAX_NAME_CHARS = 200;

export function createCommitFailures(client: GitlabClient): CommitFailures {
  return {
    async read(mr, heardOf, signal) {
      const bound = client.withSignal(signal);
      const { items } = await readList(
        client,
        (api) => api.MergeRequests.allPipelines(mr.projectId, mr.iid, PAGING),
        // They come newest first.
        { schema: wirePipeline, what: 'the pipelines', maxPages: 1 },
        signal,
      );
      const listed = items.map((one) => fromPipeline(one, mr.projectId));
      const ofHead = listed.filter(
        (one) => one.sha === mr.sha || one.id === heardOf?.id || isMergeResultOf(mr, one),
      );
      if (heardOf && !ofHead.some(({ id }) => id === heardOf.id))
        ofHead.push(await readPipeline(bound, mr, heardOf));
      const pipelines = onlyNewest(ofHead);
      const failed = pipelines.filter(({ status }) => status === 'failed');
      const jobs = await listFailedJobs(client, failed, signal);
      return { failures: [...failed.map(toPipelineFailure), ...jobs], pipelines };
    },

    async readEnd({ id, projectId }, signal) {
      const [pipeline, jobs] = await Promise.all([
        client.withSignal(signal).api.Pipelines.show(projectId, id),
        readList(
          client,
          (api) => api.Jobs.all(projectId, { ...PAGING, pipelineId: id, scope: 'failed' }),
          { schema: wireFailedJob, what: `the jobs of pipeline ${id}` },
          signal,
        ),
      ]);
      const { finished_at } = fromWire(wireEnd, `pipeline ${id}`, pipeline);
      const failedJobIds = jobs.items.filter((job) => !job.allow_failure).map((job) => job.id);
      return { failedJobIds, finishedAt: finished_at ?? null };
    },
  };
}

/** Of the commit that GitLab made of both branches, which no list ties to the head of the merge request. */
function isMergeResultOf({ headPipelineId }: MergeRequest, { id, ref }: HeadPipeline): boolean {
  return id === headPipelineId && /^refs\/merge-requests\/\d+\/(?:merge|train)$/.test(ref);
}

async function readPipeline(
  { api }: GitlabClient,
  mr: MergeRequest,
  heardOf: PipelineRef,
): Promise<HeadPipeline> {
  try {
    const answer = await api.Pipelines.show(heardOf.projectId, heardOf.id);
    return fromPipeline(fromWire(wirePipeline, `pipeline ${heardOf.id}`, answer), heardOf.projectId);
  } catch (error) {
    if (!(error instanceof NotFoundError)) throw error;
    // In a fork that this token can not see, or deleted: what the event said is all there is.
    return { ...heardOf, sha: mr.sha, ref: '', source: '', status: 'failed', webUrl: '' };
  }
}

/** A pipeline that was run anew counts no more; reports from outside stand beside GitLab's own. */
function onlyNewest(pipelines: readonly HeadPipeline[]): HeadPipeline[] {
  const kindOf = ({ projectId, ref, source }: HeadPipeline) =>
    [projectId, ref.replace(/(?<=^refs\/merge-requests\/\d+\/).*/, ''), source === 'external'].join('\n');
  const newest = new Map(pipelines.toSorted((a, b) => a.id - b.id).map((one) => [kindOf(one), one]));
  return [...newest.values()].toSorted((a, b) => b.id - a.id);
}

async function listFailedJobs(
  client: GitlabClient,
  pipelines: readonly HeadPipeline[],
  signal: AbortSignal,
): Promise<Failure[]> {
  const commits = new Map(pipelines.map((one) => [`${one.projectId}/${one.sha}`, one]));
  const ids = new Set(pipelines.map(({ id }) => id));
  const found = await Promise.all([...commits.values()].map((one) => listStatuses(client, one, signal)));
  return found
    .flat()
    .filter((one) => one.status === 'failed' && !one.allow_failure && ids.has(one.pipeline_id ?? 0))
    .map(({ id, name, pipeline_id }) => ({
      id: `job/${id}`,
      name: cutWords(name, MAX_NAME_CHARS),
      pipelineId: pipeline_id ?? 0,
    }))
    .toSorted((a, b) => a.id.localeCompare(b.id));
}

async function listStatuses(
  client: GitlabClient,
  { projectId, sha }: HeadPipeline,
  signal: AbortSignal,
): Promise<WireStatus[]> {
  try {
    // gitbeaker's type has no paging here, its request has.
    const options = { ...PAGING, showExpanded: false } as const;
    const ask = ({ Commits }: GitlabClient['api']) => Commits.allStatuses(projectId, sha, options);
    const wanted = { schema: wireStatus, what: 'the commit statuses' };
    return (await readList(client, ask, wanted, signal)).items;
  } catch (error) {
    // The commit of a fork may not be for this token to see; its pipeline still counts.
    if (error instanceof NotFoundError) return [];
    throw error;
  }
}

const wireStatus = z.object({
  id: z.number(),
  name: z.string(),
  status: z.string(),
  allow_failure: z.boolean().nullish(),
  pipeline_id: z.number().nullish(),
});

const wireEnd = z.object({ finished_at: z.string().nullish() });
const wireFailedJob = z.object({ id: z.number(), allow_failure: z.boolean().nullish() });

type WireStatus = z.infer<typeof wireStatus>;

function fromPipeline(wire: z.infer<typeof wirePipeline>, projectId: number): HeadPipeline {
  return {
    id: wire.id,
    projectId: wire.project_id ?? projectId,
    sha: wire.sha,
    ref: wire.ref ?? '',
    source: wire.source ?? '',
    status: wire.status,
    webUrl: wire.web_url,
  };
}

function toPipelineFailure({ id }: HeadPipeline): Failure {
  return { id: `pipeline/${id}`, name: `pipeline ${id}`, pipelineId: id };
}
