import { expect, test } from 'vitest';
import { CHANGES, fileAfter, fileBefore } from '../../../src/demo/story/change.ts';
import { receiveHooks } from '../demo/hook-receiver.ts';
import { createStory } from './story.ts';

test('two jobs fail, one is flaky, one may fail, and the rest pass', async () => {
  await using scene = await createStory();
  const { id, sha } = await scene.story.failPipeline();

  const pipeline = await scene.getJson(`/pipelines/${id}`);
  const jobs = await scene.getJson(`/pipelines/${id}/jobs?include_retried=true&per_page=100`);
  const newest = await scene.getJson(`/pipelines/${id}/jobs?per_page=100`);

  expect(pipeline).toMatchObject({ status: 'failed', source: 'merge_request_event', sha });
  expect(summarize(jobs)).toEqual([
    'compile success',
    'docs-spelling failed, allowed',
    'e2e-smoke failed',
    'e2e-smoke success',
    'integration-tests failed',
    'lint success',
    'unit-tests failed',
  ]);
  expect(summarize(newest)).not.toContain('e2e-smoke failed');
});

test('a status from outside failed on the same commit', async () => {
  await using scene = await createStory();
  const { sha } = await scene.story.failPipeline();

  const statuses = await scene.getJson(`/repository/commits/${sha}/statuses?per_page=100`);

  expect(statuses).toContainEqual(
    expect.objectContaining({
      name: 'Konflux / checkout-service-on-pull-request',
      status: 'failed',
      target_url: expect.stringMatching(/^https:\/\/konflux\.example\.com\//),
      description: expect.stringContaining('cart-total.test.ts'),
    }),
  );
});

test('each job has the log that the story tells of', async () => {
  await using scene = await createStory();
  const { jobs } = await scene.story.failPipeline();

  for (const job of Object.values(jobs)) {
    expect(await scene.getText(`/jobs/${job.id}/trace`)).toBe(job.log.text);
    expect(await scene.getJson(`/jobs/${job.id}`)).toMatchObject({ name: job.name, web_url: job.url });
  }
});

test('the pipeline goes from pending to running to failed, and fails once', async () => {
  await using receiver = await receiveHooks();
  await using scene = await createStory();
  const { gitlab, story } = scene;
  gitlab.addHook({ projectId: story.project.id, url: receiver.url, events: ['pipeline_events'] });

  await story.startPipeline();
  expect(() => story.failedPipeline()).toThrow('await failPipeline() first');
  const [first, second] = await Promise.all([story.failPipeline(), story.failPipeline()]);
  await gitlab.idle();

  const told = receiver.received.map(({ payload }) => payload.object_attributes);
  expect(told).toMatchObject([
    { id: first.id, status: 'pending' },
    { id: first.id, status: 'running' },
    { id: first.id, status: 'failed' },
  ]);
  expect(second).toBe(first);
  expect(story.failedPipeline()).toBe(first);
});

test('the merge request shows its change, and the files are as the change left them', async () => {
  await using scene = await createStory();
  const { iid, sourceBranch } = scene.story.mergeRequest;

  const diffs = await scene.getJson(`/merge_requests/${iid}/diffs`);

  expect(diffs).toMatchObject(CHANGES.map(({ path, diff }) => ({ new_path: path, diff })));
  for (const { path, diff } of CHANGES) {
    const file = `/repository/files/${encodeURIComponent(path)}/raw`;
    expect(await scene.getText(`${file}?ref=${sourceBranch}`)).toBe(fileAfter(diff));
    expect(await scene.getText(`${file}?ref=main`)).toBe(fileBefore(diff));
  }
});

test.each(CHANGES)('the diff of $path counts its lines right', ({ diff }) => {
  const count = (text: string) => text.split('\n').length - 1;

  expect(diff.split('\n')[0]).toBe(`@@ -1,${count(fileBefore(diff))} +1,${count(fileAfter(diff))} @@`);
});

test('the last pipeline of the default branch passed', async () => {
  await using scene = await createStory();

  expect(await scene.getJson('/pipelines?ref=main')).toMatchObject([{ status: 'success' }]);
});

test('the developer asks back in the thread of a note', async () => {
  await using scene = await createStory();
  const { gitlab, story } = scene;
  const { iid, projectId } = story.mergeRequest;
  const note = gitlab.addNote({ projectId, iid, userId: story.agent.id, body: 'It is the rounding.' });

  const question = story.ask(note.discussionId);

  expect(question.authorId).toBe(story.developer.id);
  expect(gitlab.discussions(projectId, iid)).toEqual([[note, question]]);
});

function summarize(jobs: unknown): string[] {
  if (!Array.isArray(jobs)) throw new Error('Jobs come as a list.');
  return jobs
    .map(({ name, status, allow_failure }) => `${name} ${status}${allow_failure ? ', allowed' : ''}`)
    .toSorted();
}
