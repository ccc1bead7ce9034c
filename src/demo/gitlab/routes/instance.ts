import { notFound } from '../api-error.ts';
import type { Router } from '../call.ts';
import { toCurrentUser, toUser } from '../entities/user.ts';
import { GITLAB_REVISION, GITLAB_VERSION } from '../version.ts';

/** The instance itself and its users. */
export function addInstanceRoutes(router: Router): void {
  router.get('/version', () => ({ version: GITLAB_VERSION, revision: GITLAB_REVISION }));

  router.get('/metadata', () => ({
    version: GITLAB_VERSION,
    revision: GITLAB_REVISION,
    kas: { enabled: false, externalUrl: null, externalK8sProxyUrl: null, version: null },
    enterprise: true,
  }));

  router.get('/user', ({ world, user }) => toCurrentUser(world, user));

  router.get('/users/:userId', (call) => {
    const found = call.world.users.get(call.numberParam('userId'));
    if (found === undefined) throw notFound('User');
    return toUser(call.world, found);
  });
}
