import { z } from 'zod';
import { PermanentError } from '../../errors.ts';
import { defineTool } from '../define-tool.ts';
import { toLogId, toLogPath } from './log-id.ts';
import { requestId, type Scope } from './scope.ts';
import { type FarmRequest, readRequest } from './wire.ts';
import { type Log, type Plan, readXunit, type Test } from './xunit.ts';

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
      const request = await readRequest(scope, request_id, signal);
      const { overall, plans } = readXunit(await readResults(scope, request, signal), scope.artifacts.who);
      const shown = plans
        .map((plan) => fromPlan(plan, request_id, scope, only_failed))
        .filter(({ result, tests }) => !only_failed || isBad(result) || tests.length > 0);
      return {
        kind: 'json',
        value: {
          request_id,
          state: request.state,
          result: overall ?? request.result?.overall ?? null,
          summary: request.result?.summary ?? null,
          failed_tests: plans.flatMap(({ tests }) => tests).filter(({ result }) => isBad(result)).length,
          plans: shown.toSorted(badFirst),
          ...(plans.length === 0 && { note: NO_PLANS }),
        },
      };
    },
  });
}

const NO_PLANS =
  'There are no plans in it: the request failed before any ran. Its summary and pipeline.log say why.';

/** Inside of the request or, as it mostly is, in a file beside the logs. */
async function readResults(scope: Scope, request: FarmRequest, signal: AbortSignal): Promise<string> {
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
      .filter(({ result }) => !onlyFailed || isBad(result))
      .map((test) => fromTest(test, id, scope))
      .toSorted(badFirst),
  };
}

function fromTest({ name, result, seconds, message, logs }: Test, id: string, scope: Scope) {
  return {
    test: name,
    result,
    ...(seconds !== null && { seconds }),
    ...(message !== null && { message: message.slice(0, MAX_MESSAGE) }),
    logs: toLogList(logs, id, scope),
  };
}

const MAX_MESSAGE = 4_000;

function toLogList(logs: readonly Log[], id: string, { artifactsUrl }: Scope) {
  return logs.map(({ name, href }) => {
    const log = toLogId(href, id, artifactsUrl);
    return log === null ? { name, not_readable: 'it is on another host' } : { name, log };
  });
}

function isBad(result: string): boolean {
  return !['passed', 'skipped', 'info', 'pending'].includes(result);
}

function badFirst(a: { result: string }, b: { result: string }): number {
  return Number(isBad(b.result)) - Number(isBad(a.result));
}
