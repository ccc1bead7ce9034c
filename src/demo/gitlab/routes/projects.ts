import { GUEST } from '../access.ts';
import { notFound } from '../api-error.ts';
import type { Router } from '../call.ts';
import { toProject } from '../entities/project.ts';
import { toMember } from '../entities/user.ts';
import { userById } from '../world/find.ts';

export function addProjectRoutes(router: Router): void {
  router.get('/projects/:id', (call) => toProject(call.world, call.project(GUEST)));

  router.get('/projects/:id/members/all/:userId', (call) => {
    const userId = call.numberParam('userId');
    const level = call.project(GUEST).members.get(userId);
    if (level === undefined) throw notFound();
    return toMember(call.world, userById(call.world, userId), level);
  });
}
