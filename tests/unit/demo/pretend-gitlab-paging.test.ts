import { expect, test } from 'vitest';
import { createScene, type Scene } from './scene.ts';

test('a list is cut into pages and tells of the others', async () => {
  await using scene = await createScene();
  for (let n = 1; n <= 5; n += 1) addNote(scene, `note ${n}`);

  const answer = await scene.call(`${scene.mrPath}/notes?sort=asc&per_page=2&page=2`);

  expect(answer.body).toMatchObject([{ body: 'note 3' }, { body: 'note 4' }]);
  expect(Object.fromEntries(answer.headers)).toMatchObject({
    'x-total': '5',
    'x-total-pages': '3',
    'x-page': '2',
    'x-per-page': '2',
    'x-next-page': '3',
    'x-prev-page': '1',
  });
  const links = linksOf(answer.headers);
  expect(Object.keys(links).toSorted()).toEqual(['first', 'last', 'next', 'prev']);
  expect(links).toMatchObject({
    next: expect.stringContaining('page=3'),
    prev: expect.stringContaining('page=1'),
  });
  expect(links.next).toContain('sort=asc');
});

test('the first and the last page have no link beyond them', async () => {
  await using scene = await createScene();
  for (let n = 1; n <= 3; n += 1) addNote(scene, `note ${n}`);

  const first = await scene.call(`${scene.mrPath}/notes?per_page=2`);
  const last = await scene.call(`${scene.mrPath}/notes?per_page=2&page=2`);

  expect(linksOf(first.headers)).not.toHaveProperty('prev');
  expect(first.headers.get('x-prev-page')).toBe('');
  expect(linksOf(last.headers)).not.toHaveProperty('next');
  expect(last.headers.get('x-next-page')).toBe('');
});

test('a page has 20 entries unless told and never more than 100', async () => {
  await using scene = await createScene();
  for (let n = 1; n <= 120; n += 1) addNote(scene, `note ${n}`);

  const usual = await scene.call<unknown[]>(`${scene.mrPath}/notes`);
  const greedy = await scene.call<unknown[]>(`${scene.mrPath}/notes?per_page=500`);

  expect(usual.body).toHaveLength(20);
  expect(greedy.body).toHaveLength(100);
  expect(greedy.headers.get('x-per-page')).toBe('100');
});

test.each(['project', 'pipeline'])(
  "a %s's jobs can be followed by a cursor, without totals",
  async (kind) => {
    await using scene = await createScene();
    const names = ['a', 'b', 'c', 'd', 'e'];
    const pipeline = scene.gitlab.addPipeline({
      mergeRequest: scene.mr,
      jobs: names.map((name) => ({ name, status: 'failed' })),
    });
    const parent = kind === 'project' ? '' : `/pipelines/${pipeline.id}`;

    const seen: string[] = [];
    const pages: Headers[] = [];
    let next: string | undefined =
      `/projects/${scene.project.id}${parent}/jobs?pagination=keyset&order_by=id&sort=asc&per_page=2&scope[]=failed`;
    while (next !== undefined) {
      const page: { headers: Headers; body: { name: string }[] } = await scene.call(next);
      seen.push(...page.body.map((job) => job.name));
      pages.push(page.headers);
      next = linksOf(page.headers).next;
    }

    expect(seen).toEqual(names);
    expect(pages).toHaveLength(3);
    for (const headers of pages) expect(headers.has('x-total')).toBe(false);
    expect(linksOf(pages[0] ?? new Headers()).next).toContain('cursor=');
  },
);

test("a project's jobs are not counted on numbered pages either", async () => {
  await using scene = await createScene();
  scene.gitlab.addPipeline({ mergeRequest: scene.mr, jobs: [{ name: 'a' }, { name: 'b' }, { name: 'c' }] });

  const answer = await scene.call(`/projects/${scene.project.id}/jobs?per_page=2`);

  expect(answer.body).toMatchObject([{ name: 'c' }, { name: 'b' }]);
  expect(answer.headers.has('x-total')).toBe(false);
  expect(answer.headers.get('x-next-page')).toBe('2');
  expect(linksOf(answer.headers)).not.toHaveProperty('last');
});

function addNote(scene: Scene, body: string): void {
  const { projectId, iid } = scene.mr;
  scene.gitlab.addNote({ projectId, iid, userId: scene.dora.id, body });
}

function linksOf(headers: Headers): Record<string, string> {
  const links = (headers.get('link') ?? '').matchAll(/<([^>]+)>; rel="(\w+)"/g);
  return Object.fromEntries([...links].map((match) => [match[2], match[1] ?? '']));
}
