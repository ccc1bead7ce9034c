import { z } from 'zod';
import type { Fetch } from './fetch.ts';
import { PREVIEW_BYTES } from './limits.ts';
import { createTool, type Tool } from './tool.ts';

const LIMITS = { maxShapeBytes: 1_024, maxEvidenceBytes: PREVIEW_BYTES };

export const fetchRequest = z.strictObject({
  tool: z.string().describe('Name of the data source tool to call, such as gitlab_get_job_log'),
  args: z.looseObject({}).default({}).describe('Its arguments, as in a direct call'),
  path: z
    .string()
    .optional()
    .describe('File below /tmp/data or /tmp/_out; /tmp/data/<tool>-<n>.json or .txt unless told'),
});

export function createFetchToSandbox(fetch: Fetch): Tool {
  return createTool(
    {
      name: 'fetch_to_sandbox',
      description: [
        'Calls a data source tool and writes its whole answer into a file of the sandbox. Of a job log you see',
        'the lines that explain its failure best, with their numbers; of JSON the shape: keys, types and samples,',
        'enough to write a jq command; of anything else only the size.',
        'Use it for what is large, such as job logs and diffs; then search the file with sandbox_exec.',
        'Several at once: fetch_batch_to_sandbox.',
      ].join(' '),
      schema: fetchRequest,
      example: { tool: 'gitlab_get_job_log', args: { job_id: 123 }, path: '/tmp/data/unit-tests.log' },
    },
    (request, signal, { onAnswerFile }) => fetch(request, signal, { ...LIMITS, onAnswerFile }),
  );
}
