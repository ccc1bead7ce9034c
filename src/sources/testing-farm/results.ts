import { z } from 'zod';
import { PermanentError } from '../../errors.ts';
import { defineTool } from '../define-tool.ts';
import { readInThread } from '../reports/read-in-thread.ts';
import { toLogId, toLogPath } from './log-id.ts';
import { readOwnRequest } from './own-request.ts';
import { requestId, type Scope } from './scope.ts';
import type { FarmRequest } from './wire.ts';
import { isBad, type Log, type Plan, type Results, type Test, XUNIT } from './xunit.ts';

export function createListResults(scope: Scope) {
  return defineTool({
    name: 'testing_farm_list_results',
    description:
      'The results of a request, for each plan and each test, failed ones first: result, message, seconds, environment, and its logs, which testing_farm_get_log reads.',
    schema: z.strictObject({
      request_id: requestId,
      only_failed: z.boolean().optional().describe('Leave out plans and tests that passed'),
    }),
    async read({ request_id, only_failed = false }, signal) {
      const request = await readOwnRequest(scope, request_id, signal);
      const results = await readResults(scope, request, signal);
      const { overall, plans, failedTests } = results;
      const shown = plans
        .map((plan) => fromPlan(plan, request_id, scope, only_failed))
        .filter((plan) => !only_failed || isBad(plan) || plan.tests.length > 0);
      return {
        kind: 'json',
        value: {
          request_id,
          state: request.state,
          result: overall ?? request.result?.overall ?? null,
          summary: request.result?.summary ?? null,
          failed_tests: failedTests,
          plans: shown.toSorted(badFirst),
          ...toNote(results),
        },
      };
    },
  });
}

const NO_PLANS =
  'There are no plans in it: the request failed before any ran. Its summary and pipeline.log say why.';

function toNote({ plans, totalTests, leftOut }: Results): { note?: string } {
  if (plans.length === 0) return { note: NO_PLANS };
  if (leftOut === 0) return {};
  return { note: `${leftOut} of ${totalTests} tests are left out, those that passed before all others.` };
}

/** At most so much of it is parsed. */
const MAX_XML = 32 * 1024 * 1024;

async function readResults(scope: Scope, request: FarmRequest, signal: AbortSignal): Promise<Results> {
  const xml = await openResults(scope, request, signal);
  const what = `The results (xunit) of ${request.id}`;
  if (xml.length > MAX_XML)
    throw new PermanentError(`${what} are too large (${xml.length} characters); look into its logs instead`);
  try {
    return await readInThread(XUNIT, xml, signal);
  } catch (cause) {
    signal.throwIfAborted();
    throw new PermanentError(`${what}: ${cause instanceof Error ? cause.message : cause}`, { cause });
  }
}

/** Inside of the request or, as it mostly is, in a file beside the logs. */
async function openResults(scope: Scope, request: FarmRequest, signal: AbortSignal): Promise<string> {
  const { xunit, xunit_url } = request.result ?? {};
  if (xunit?.trimStart().startsWith('<')) return xunit;
  const file = toLogId(xunit_url || 'results.xml', request.id, scope.artifactsUrl);
  if (file === null)
    throw new PermanentError(
      `The results of ${request.id} are at ${URL.parse(xunit_url ?? '')?.host}, which is not the configured sources.testingFarm.artifactsUrl`,
    );
  return scope.artifacts.getText(toLogPath(file, request.id), signal);
}

function fromPlan(plan: Plan, id: string, scope: Scope, onlyFailed: boolean) {
  return {
    plan: plan.name,
    result: plan.result,
    arch: plan.arch,
    compose: plan.compose,
    logs: toLogList(plan.logs, id, scope),
    tests: plan.tests
      .filter((test) => !onlyFailed || isBad(test))
      .map((test) => fromTest(test, id, scope))
      .toSorted(badFirst),
  };
}

function fromTest({ name, result, seconds, message, logs }: Test, id: string, scope: Scope) {
  return {
    test: name,
    result,
    ...(seconds !== null && { seconds }),
    ...(message !== null && { message }),
    logs: toLogList(logs, id, scope),
  };
}

function toLogList(logs: readonly Log[], id: string, { artifactsUrl }: Scope) {
  return logs.map(({ name, href }) => {
    const log = toLogId(href, id, artifactsUrl);
    return log === null ? { name, not_readable: 'it is on another host' } : { name, log };
  });
}

function badFirst(a: { result: string }, b: { result: string }): number {
  return Number(isBad(b)) - Number(isBad(a));
}
