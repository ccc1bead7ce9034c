import { GUEST } from '../access.ts';
import { notFound } from '../api-error.ts';
import type { Call, Router } from '../call.ts';
import { toProject } from '../entities/project.ts';
import { toMember } from '../entities/user.ts';
import type { Project } from '../model.ts';
import { paginate } from '../paging.ts';
import { userById } from '../world/find.ts';

export function addProjectRoutes(router: Router): void {
  router.get('/projects', (call) => paginate(call, ofMember(call)).map((one) => toProject(call.world, one)));

  router.get('/groups/:group/projects', (call) => {
    const group = call.param('group');
    const found = ofMember(call).filter(({ path }) => path.startsWith(`${group}/`));
    if (found.length === 0) throw notFound('Group');
    return paginate(call, found).map((one) => toProject(call.world, one));
  });

  router.get('/projects/:id', (call) => toProject(call.world, call.project(GUEST)));

  router.get('/projects/:id/members/all/:userId', (call) => {
    const userId = call.numberParam('userId');
    const level = call.project(GUEST).members.get(userId);
    if (level === undefined) throw notFound();
    return toMember(call.world, userById(call.world, userId), level);
  });
}

/** Newest first. */
function ofMember({ world, user }: Call): Project[] {
  return [...world.projects.values()].filter(({ members }) => members.has(user.id)).reverse();
}
