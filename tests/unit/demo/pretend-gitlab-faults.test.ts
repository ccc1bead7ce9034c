import { expect, test } from 'vitest';
import { createScene, type Scene } from './scene.ts';

test('too many requests are refused with the time to wait, as often as told', async () => {
  await using scene = await createScene();
  scene.gitlab.fail({ match: { path: '/user', times: 2 }, with: { status: 429, retryAfter: 7 } });

  const answers = [await scene.call('/user'), await scene.call('/user'), await scene.call('/user')];

  expect(answers.map((answer) => answer.status)).toEqual([429, 429, 200]);
  expect(answers[0]?.headers.get('retry-after')).toBe('7');
  expect(answers[0]?.body).toBe('Retry later\n');
});

test.each([500, 502, 503, 504] as const)(
  'GitLab can be broken with %i until it is lifted',
  async (status) => {
    await using scene = await createScene();
    const fault = scene.gitlab.fail({ with: { status } });

    const broken = await postNote(scene);
    fault.lift();
    const mended = await postNote(scene);

    expect([broken.status, mended.status]).toEqual([status, 201]);
    expect(notesOf(scene)).toHaveLength(1);
  },
);

test('a fault strikes only the method and path that it is for', async () => {
  await using scene = await createScene();
  scene.gitlab.fail({ match: { method: 'post', path: /\/notes$/ }, with: { status: 500 } });

  const read = await scene.call(`${scene.mrPath}/notes`);
  const write = await postNote(scene);
  const elsewhere = await scene.call(`${scene.mrPath}/discussions`, {
    method: 'POST',
    body: { body: 'hi' },
  });

  expect([read.status, write.status, elsewhere.status]).toEqual([200, 500, 201]);
});

test('a request can be sent elsewhere, or be answered with a web page', async () => {
  await using scene = await createScene();
  const location = `${scene.gitlab.url}/api/v4/version`;
  scene.gitlab.fail({ match: { path: '/trace' }, with: { status: 302, location } });
  scene.gitlab.fail({ match: { path: '/user' }, with: 'web-page' });

  const sent = await fetch(`${scene.gitlab.url}/api/v4/projects/1/jobs/1/trace`, { redirect: 'manual' });
  const page = await scene.call('/user');

  expect([sent.status, sent.headers.get('location')]).toEqual([302, location]);
  expect([page.status, page.headers.get('content-type'), page.body]).toEqual([
    200,
    expect.stringContaining('text/html'),
    expect.stringContaining('Sign in'),
  ]);
});

test('a slow answer comes, but late', async () => {
  await using scene = await createScene();
  scene.gitlab.fail({ match: { times: 1 }, with: { delayMs: 80 } });

  const startedAt = performance.now();
  const answer = await postNote(scene);

  expect(performance.now() - startedAt).toBeGreaterThanOrEqual(75);
  expect(answer.status).toBe(201);
});

test('a client that does not wait for a slow answer has still written', async () => {
  await using scene = await createScene();
  scene.gitlab.fail({ match: { times: 1 }, with: { delayMs: 500 } });
  const impatience = new AbortController();
  const request = fetch(`${scene.gitlab.url}/api/v4${scene.mrPath}/notes`, {
    method: 'POST',
    headers: { 'private-token': scene.token, 'content-type': 'application/json' },
    body: JSON.stringify({ body: 'hello' }),
    signal: impatience.signal,
  });
  await expect.poll(() => scene.gitlab.requests).toHaveLength(1);

  impatience.abort();

  await expect(request).rejects.toThrow(/abort/);
  expect(notesOf(scene)).toEqual([]);
  await expect.poll(() => notesOf(scene), { timeout: 5_000 }).toMatchObject([{ body: 'hello' }]);
});

test('half an answer promises the whole and breaks off', async () => {
  await using scene = await createScene();
  const trace = 'x'.repeat(10_000);
  const pipeline = scene.gitlab.addPipeline({ mergeRequest: scene.mr, jobs: [{ name: 'unit', trace }] });
  const [job] = scene.gitlab.jobs(pipeline.id);
  scene.gitlab.fail({ match: { path: '/trace', times: 1 }, with: 'half' });

  const response = await fetch(
    `${scene.gitlab.url}/api/v4/projects/${scene.project.id}/jobs/${job?.id}/trace`,
    { headers: { 'private-token': scene.token } },
  );
  let bytes = 0;
  const reading = (async () => {
    for await (const piece of response.body ?? []) bytes += piece.length;
  })();

  await expect(reading).rejects.toThrow();
  expect(response.status).toBe(200);
  expect(response.headers.get('content-length')).toBe('10000');
  expect(bytes).toBe(5_000);
});

test('half an answer to a write means that it was written', async () => {
  await using scene = await createScene();
  scene.gitlab.fail({ match: { method: 'POST', times: 1 }, with: 'half' });

  await expect(postNote(scene)).rejects.toThrow();

  expect(notesOf(scene)).toHaveLength(1);
});

test('a reset leaves no answer and nothing done', async () => {
  await using scene = await createScene();
  scene.gitlab.fail({ match: { method: 'POST', times: 1 }, with: 'reset' });

  await expect(postNote(scene)).rejects.toThrow('fetch failed');

  expect(notesOf(scene)).toEqual([]);
  expect(scene.gitlab.requests).toMatchObject([{ method: 'POST', username: 'hummingbird', status: null }]);
});

test('a write can be carried out although its answer is lost', async () => {
  await using scene = await createScene();
  scene.gitlab.fail({ match: { method: 'POST', times: 1 }, with: 'commit-then-drop' });

  await expect(postNote(scene)).rejects.toThrow('fetch failed');

  expect(notesOf(scene)).toMatchObject([{ body: 'hello' }]);
  expect(scene.gitlab.requests).toMatchObject([{ method: 'POST', status: null }]);
  expect((await scene.call(`${scene.mrPath}/notes`)).body).toMatchObject([{ body: 'hello' }]);
});

function postNote(scene: Scene) {
  return scene.call(`${scene.mrPath}/notes`, { method: 'POST', body: { body: 'hello' } });
}

function notesOf(scene: Scene) {
  return scene.gitlab.notes(scene.mr.projectId, scene.mr.iid);
}
