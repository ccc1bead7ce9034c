import { posix } from 'node:path';
import { z } from 'zod';
import { TimeUpError } from '../agent/clock.ts';
import type { Fetch, FetchRequest, Saved } from './fetch.ts';
import { fetchRequest } from './fetch-to-sandbox.ts';
import { DATA_FOLDER } from './kept-path.ts';
import { PREVIEW_BYTES } from './limits.ts';
import { createTool, type Tool } from './tool.ts';
import { ToolError, toErrorResult } from './tool-error.ts';

const MAX_REQUESTS = 50;
/** For each: there may be many. */
const MAX_SHAPE_BYTES = 512;
/** For all together, but no log has less than a thousand, or more than one fetched alone. */
const ALL_EVIDENCE_BYTES = 16 * 1024;

export function createFetchBatchToSandbox(fetch: Fetch, maxParallel: number): Tool {
  const declaration = {
    name: 'fetch_batch_to_sandbox',
    description: [
      'Does what fetch_to_sandbox does for many requests at the same time. The results are in the order of',
      'the requests, each a file or an error of its own. Use it to get the logs of all failed jobs in one call.',
    ].join(' '),
    schema: z.strictObject({ requests: z.array(fetchRequest).min(1).max(MAX_REQUESTS) }),
    example: {
      requests: [
        { tool: 'gitlab_get_job_log', args: { job_id: 123 }, path: '/tmp/data/unit-tests.log' },
        { tool: 'gitlab_get_mr_diff', path: '/tmp/data/mr.diff' },
      ],
    },
  };

  return createTool(declaration, async ({ requests }, signal, { onProgress, onAnswerFile }) => {
    let done = 0;
    const share = Math.floor(ALL_EVIDENCE_BYTES / requests.length);
    const maxEvidenceBytes = Math.min(PREVIEW_BYTES, Math.max(1_000, share));
    const fetchOne = async (request: FetchRequest, index: number) => {
      signal.throwIfAborted();
      refuseSamePath(requests, index);
      const limits = { maxShapeBytes: MAX_SHAPE_BYTES, maxEvidenceBytes };
      const saved = await fetch(request, signal, { ...limits, onAnswerFile });
      done += 1;
      onProgress(`${done} of ${requests.length}: ${saved.saved_to}, ${saved.bytes} bytes`);
      return saved;
    };
    const settled = await settleAll(requests, maxParallel, fetchOne);
    // What is done when the time is up counts.
    if (!(signal.reason instanceof TimeUpError)) signal.throwIfAborted();
    const results = settled.map((one, index) =>
      one.status === 'fulfilled' ? one.value : toErrorResult(requests[index]?.tool ?? '', one.reason),
    );
    if (settled.some(({ status }) => status === 'fulfilled')) return { results };
    throw new ToolError('None of the requests could be fetched', { results });
  });
}

/** They run at the same time: the second would be written over the first, or into it. */
function refuseSamePath(requests: readonly FetchRequest[], index: number): void {
  const paths = requests.map(({ path }) => path && posix.resolve(DATA_FOLDER, path));
  const first = paths.indexOf(paths[index]);
  if (paths[index] && first < index) {
    throw new ToolError(`request ${index} has the same path as request ${first}; give it another one`);
  }
}

/** All of them, in order, at most `maxParallel` at the same time. */
async function settleAll(
  requests: readonly FetchRequest[],
  maxParallel: number,
  fetchOne: (request: FetchRequest, index: number) => Promise<Saved>,
): Promise<PromiseSettledResult<Saved>[]> {
  const settled: PromiseSettledResult<Saved>[] = [];
  const waiting = requests.entries();
  const work = async () => {
    for (const [index, request] of waiting) {
      const [result] = await Promise.allSettled([fetchOne(request, index)]);
      settled[index] = result;
    }
  };
  await Promise.all(Array.from({ length: maxParallel }, work));
  return settled;
}
