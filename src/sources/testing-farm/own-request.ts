import { PermanentError } from '../../errors.ts';
import { isProjectAddress, parseRepository } from '../project-address.ts';
import type { Scope } from './scope.ts';
import { type FarmRequest, readRequest } from './wire.ts';

/** A request of this job; whatever else the model finds an id of can not be read. */
export async function readOwnRequest(scope: Scope, id: string, signal: AbortSignal): Promise<FarmRequest> {
  const request = await readRequest(scope, id, signal);
  if (testsProject(request, scope) || (await isReported(scope, id, signal))) return request;
  throw new PermanentError(
    `Request ${id} is not one of this job: its tests are neither of this commit nor of this project, and no status of the commit links to it. Where tests are kept in another repository, the operator can list that under sources.testingFarm.testRepositories`,
  );
}

function testsProject({ test }: FarmRequest, scope: Scope): boolean {
  const git = test?.fmf ?? test?.sti;
  if (!git) return false;
  const { url, ref, merge_sha } = git;
  if (scope.sha !== '' && (ref === scope.sha || merge_sha === scope.sha)) return true;
  return Boolean(url) && (isProjectAddress(url ?? '', scope) || isListed(url ?? '', scope.testRepositories));
}

/** An entry means one repository, or with `/**` at its end all below. */
function isListed(url: string, listed: readonly string[]): boolean {
  const found = parseRepository(url);
  return listed.some((entry) => {
    const wanted = parseRepository(entry.replace(/\/\*\*$/, ''));
    if (!found || !wanted || found.host !== wanted.host) return false;
    return entry.endsWith('/**') ? found.path.startsWith(`${wanted.path}/`) : found.path === wanted.path;
  });
}

async function isReported({ readStatuses }: Scope, id: string, signal: AbortSignal): Promise<boolean> {
  return (await readStatuses(signal)).some((words) => words.toLowerCase().includes(id.toLowerCase()));
}
