import { ApiError, notFound, unauthorized } from '../api-error.ts';
import type { Call, Router } from '../call.ts';
import { toAward } from '../entities/note.ts';
import type { Award, AwardTarget } from '../model.ts';
import { paginate } from '../paging.ts';
import { award, revokeAward } from '../world/awards.ts';
import { awardsOn } from '../world/find.ts';
import { noteOf } from './note-call.ts';

/** Emoji on merge requests and on their notes. */
export function addAwardEmojiRoutes(router: Router): void {
  const mergeRequest = '/projects/:id/merge_requests/:iid';
  addRoutesUnder(router, mergeRequest, (call) => ({ kind: 'merge-request', id: call.mergeRequest().id }));
  addRoutesUnder(router, `${mergeRequest}/notes/:noteId`, (call) => ({ kind: 'note', id: noteOf(call).id }));
}

function addRoutesUnder(router: Router, path: string, targetOf: (call: Call) => AwardTarget): void {
  router.get(`${path}/award_emoji`, (call) => {
    const awards = awardsOn(call.world, targetOf(call));
    return paginate(call, awards).map((one) => toAward(call.world, one));
  });

  router.get(`${path}/award_emoji/:awardId`, (call) => toAward(call.world, awardOf(call, targetOf(call))));

  router.post(`${path}/award_emoji`, (call) => {
    const given = award(call.world, targetOf(call), call.requiredField('name'), call.user.id);
    if (given === undefined) {
      throw new ApiError(404, { message: '404 Award Emoji Name has already been taken' });
    }
    return toAward(call.world, given);
  });

  router.delete(`${path}/award_emoji/:awardId`, (call) => {
    const given = awardOf(call, targetOf(call));
    if (given.userId !== call.user.id) throw unauthorized();
    revokeAward(call.world, given.id);
    return call.reply.code(204).send();
  });
}

function awardOf(call: Call, target: AwardTarget): Award {
  const id = call.numberParam('awardId');
  const found = awardsOn(call.world, target).find((one) => one.id === id);
  if (found === undefined) throw notFound();
  return found;
}
