import { z } from 'zod';
import { defineTool } from '../define-tool.ts';
import { readOwnRequest } from './own-request.ts';
import { requestId, type Scope } from './scope.ts';
import type { FarmRequest } from './wire.ts';

export function createGetRequest(scope: Scope) {
  return defineTool({
    name: 'testing_farm_get_request',
    description:
      'A request of Testing Farm: its state (new, queued, running, complete, error, canceled), overall result, the summary of what went wrong, notes, what was tested where, times in seconds, link.',
    schema: z.strictObject({ request_id: requestId }),
    async read({ request_id }, signal) {
      const request = await readOwnRequest(scope, request_id, signal);
      return { kind: 'json', value: fromRequest(request, scope.sha) };
    },
  });
}

function fromRequest(request: FarmRequest, sha: string) {
  const { test, result, environments_requested } = request;
  const git = test?.fmf ?? test?.sti;
  return {
    request_id: request.id,
    state: request.state,
    result: result?.overall ?? null,
    summary: result?.summary ?? null,
    notes: (request.notes ?? []).map(({ level, message }) => `${level ?? 'note'}: ${message ?? ''}`),
    test: git && {
      kind: test?.fmf ? 'tmt' : 'sti',
      url: git.url ?? null,
      ref: git.ref ?? null,
      merge_sha: git.merge_sha ?? null,
      plan: git.name ?? null,
    },
    // Tests may live in another repository, so that it is not named proves nothing.
    names_this_commit: [git?.ref, git?.merge_sha].includes(sha),
    environments: (environments_requested ?? []).map(({ arch, os, pool, artifacts }) => ({
      arch: arch ?? null,
      compose: os?.compose ?? null,
      pool: pool ?? null,
      artifacts: (artifacts ?? []).map(({ type, id }) => `${type ?? '?'} ${id ?? '?'}`),
    })),
    created: request.created ?? null,
    updated: request.updated ?? null,
    queued_seconds: request.queued_time ?? null,
    run_seconds: request.run_time ?? null,
    web_url: request.run?.artifacts ?? null,
  };
}
