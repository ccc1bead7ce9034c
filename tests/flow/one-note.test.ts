import { describe, expect, test } from 'vitest';
import { WEBHOOK_TOKEN } from './scene.ts';
import {
  arrange,
  arrangeStopped,
  ask,
  ended,
  failPipeline,
  noteOf,
  notes,
  PROVIDERS,
  scene,
} from './story-scene.ts';

describe.each(PROVIDERS)('one note with %s', (provider) => {
  test('however often GitLab tells of the failure', async () => {
    const hook = await arrange({ provider });
    failPipeline();
    await noteOf(0);
    await scene.gitlab.idle();
    for (const delivery of hook.deliveries.filter(({ responseBody }) => responseBody.includes('queued')))
      await scene.gitlab.redeliver(delivery.id);
    failPipeline();
    await expect.poll(() => ended().length, { timeout: 20_000 }).toBe(2);
    expect(notes()).toHaveLength(1);
  });

  test('even if GitLab takes it and the answer is lost', async () => {
    await arrange({ provider });
    scene.gitlab.fail({ match: { method: 'POST', path: /\/notes$/, times: 1 }, with: 'commit-then-drop' });
    failPipeline();
    await expect.poll(ended, { timeout: 20_000 }).toMatchObject([{ ending: 'answered' }]);
    expect(notes()).toHaveLength(1);
  });

  test('that a reply does not change', async () => {
    await arrange({ provider });
    failPipeline();
    const analysis = await noteOf(0);
    scene.model.script = () => ({ text: 'An answer to a question.' });
    ask(analysis.discussionId, 'Why?');
    await noteOf(1);
    await expect.poll(() => ended().length, { timeout: 20_000 }).toBe(2);
    expect(notes().map(({ body }) => body)).toEqual([
      analysis.body,
      expect.stringContaining('An answer to a question.'),
    ]);
  });

  test('that an ending without a word does not replace', async () => {
    await arrange({ provider });
    failPipeline();
    const analysis = await noteOf(0);
    scene.model.script = () => ({ status: 401 });
    scene.gitlab.pushCommit(scene.mr);
    failPipeline();
    await expect
      .poll(() => ended().map(({ ending }) => ending), { timeout: 20_000 })
      .toContain('model-error');
    const [text = ''] = analysis.body.split('\n');
    expect(notes().map(({ body }) => body)).toEqual([expect.stringContaining(text)]);
    expect(scene.logged).toContainEqual(expect.objectContaining({ msg: 'the agent broke off', level: 50 }));
  });

  test('that is edited when a later commit fails for another reason', async () => {
    await arrange({ provider });
    failPipeline();
    const first = await noteOf(0);
    scene.model.script = () => ({ text: 'Now the build is broken.' });
    scene.gitlab.pushCommit(scene.mr);
    failPipeline();
    await expect.poll(() => notes()[0]?.body, { timeout: 20_000 }).toContain('Now the build is broken.');
    expect(notes().map(({ id }) => id)).toEqual([first.id]);
  });
});

test('an earlier analysis that fails in the end does not take the note of the newest commit', async () => {
  await arrangeStopped();
  const { gitlab, mr, project, sha } = scene;
  const service = await scene.start();
  const url = `${service.url}/webhooks/gitlab`;
  gitlab.addHook({ projectId: project.id, url, token: WEBHOOK_TOKEN, events: ['pipeline_events'] });
  const reading = /merge_requests\/\d+\/pipelines$/;
  gitlab.fail({ match: { path: reading, times: 1 }, with: { delayMs: 4_000 } });
  gitlab.fail({ match: { path: `/commits/${sha()}/statuses` }, with: 'web-page' });
  failPipeline();
  await expect
    .poll(() => gitlab.requests.some(({ path }) => reading.test(path)), { timeout: 20_000 })
    .toBe(true);
  gitlab.pushCommit(mr);
  gitlab.addCommitStatus({ projectId: project.id, sha: sha(), name: 'scan', state: 'failed' });
  const { body: newest } = await noteOf(0);
  await expect.poll(ended, { timeout: 20_000 }).toMatchObject([{ ending: 'answered' }, { ending: 'failed' }]);
  await expect
    .poll(() => scene.logged.filter(({ msg }) => msg === 'job failed'), { timeout: 20_000 })
    .toHaveLength(1);
  expect(notes().map(({ body }) => body)).toEqual([newest]);
}, 60_000);
