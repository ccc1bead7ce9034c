import { expect, test } from 'vitest';
import { shareAnswers } from '../../../src/sources/gitlab/share-answers.ts';

test('who was told to stop is refused in the answer, so that others asked beside it are not left alone', async () => {
  const ask = shareAnswers(async () => 'an answer');
  const stopped = AbortSignal.abort(new Error('no longer wanted'));
  const asked = [ask('one', new AbortController().signal), ask('other', stopped)];
  expect(await Promise.allSettled(asked)).toMatchObject([
    { status: 'fulfilled', value: 'an answer' },
    { status: 'rejected', reason: { message: 'no longer wanted' } },
  ]);
});
