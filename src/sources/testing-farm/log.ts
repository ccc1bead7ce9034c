import { z } from 'zod';
import { defineTool } from '../define-tool.ts';
import { toLogPath } from './log-id.ts';
import { readOwnRequest } from './own-request.ts';
import { requestId, type Scope } from './scope.ts';

export function createGetLog(scope: Scope) {
  return defineTool({
    name: 'testing_farm_get_log',
    description:
      'A log of a request: pipeline.log, which is how the request itself went, or one of those that testing_farm_list_results names. Large: fetch it into a file and search that.',
    schema: z.strictObject({
      request_id: requestId,
      log: z
        .string()
        .min(1)
        .max(2_000)
        .optional()
        .describe('From testing_farm_list_results; pipeline.log unless told'),
    }),
    async read({ request_id, log = 'pipeline.log' }, signal) {
      const path = toLogPath(log, request_id);
      await readOwnRequest(scope, request_id, signal);
      // Folders are answered with a page that lists them, and some tests write one.
      const mayBePage = !/\.(?:log|txt|xml|json)$/.test(log);
      return { kind: 'text', of: 'log', body: await scope.artifacts.open(path, {}, signal, { mayBePage }) };
    },
  });
}
