import { expect, test } from 'vitest';
import { createScene } from './scene.ts';

test('a request without a token is not authorized', async () => {
  await using scene = await createScene();

  const answer = await scene.call('/user', { as: null });

  expect(answer.status).toBe(401);
  expect(answer.body).toEqual({ message: '401 Unauthorized' });
});

test.each(['unknown', 'expired', 'revoked'])('a token that is %s is not authorized', async (kind) => {
  await using scene = await createScene({ now: () => new Date('2026-05-01T10:00:00Z') });
  const expiresAt = new Date('2026-05-01T09:59:59Z');
  const tokens = {
    unknown: 'glpat-unknown',
    expired: scene.gitlab.addToken({ userId: scene.bot.id, scopes: ['api'], expiresAt }),
    revoked: scene.gitlab.addToken({ userId: scene.bot.id, scopes: ['api'] }),
  };
  scene.gitlab.revokeToken(tokens.revoked);

  const answer = await scene.call('/user', { as: tokens[kind as keyof typeof tokens] });

  expect(answer).toMatchObject({ status: 401, body: { message: '401 Unauthorized' } });
});

test('a token is taken as a bearer as well', async () => {
  await using scene = await createScene();

  const response = await fetch(`${scene.gitlab.url}/api/v4/user`, {
    headers: { authorization: `Bearer ${scene.token}` },
  });

  expect(await response.json()).toMatchObject({ id: scene.bot.id, username: 'hummingbird', bot: true });
});

test('a token that may only read can not write', async () => {
  await using scene = await createScene();
  const reader = scene.gitlab.addToken({ userId: scene.bot.id, scopes: ['read_api'] });

  const read = await scene.call(`${scene.mrPath}/notes`, { as: reader });
  const write = await scene.call(`${scene.mrPath}/notes`, {
    as: reader,
    method: 'POST',
    body: { body: 'hi' },
  });

  expect(read.status).toBe(200);
  expect(write.status).toBe(403);
  expect(write.body).toEqual({
    error: 'insufficient_scope',
    error_description: 'The request requires higher privileges than provided by the access token.',
    scope: 'api',
  });
  expect(scene.gitlab.notes(scene.project.id, scene.mr.iid)).toEqual([]);
});

test('a token for the repository alone reads files and nothing else', async () => {
  await using scene = await createScene();
  scene.gitlab.addFile({ projectId: scene.project.id, ref: 'main', path: 'docs/a b.md', content: 'hello' });
  const as = scene.gitlab.addToken({ userId: scene.bot.id, scopes: ['read_repository'] });

  const file = await scene.call(
    `/projects/${scene.project.id}/repository/files/docs%2Fa%20b.md/raw?ref=main`,
    {
      as,
    },
  );
  const project = await scene.call(`/projects/${scene.project.id}`, { as });

  expect(file).toMatchObject({ status: 200, body: 'hello' });
  expect(project).toMatchObject({ status: 403, body: { error: 'insufficient_scope' } });
});

test('a private project does not exist for strangers and is closed to guests', async () => {
  await using scene = await createScene();
  const stranger = scene.gitlab.addUser({ username: 'stranger' });
  const as = scene.gitlab.addToken({ userId: stranger.id, scopes: ['api'] });

  const before = await scene.call(scene.mrPath, { as });
  scene.gitlab.setMember(scene.project.id, stranger.id, 10);
  const asGuest = await scene.call(scene.mrPath, { as });

  expect(before).toMatchObject({ status: 404, body: { message: '404 Project Not Found' } });
  expect(asGuest).toMatchObject({ status: 403, body: { message: '403 Forbidden' } });
});

test('a project is found by its number and by its encoded path', async () => {
  await using scene = await createScene();

  const byId = await scene.call(`/projects/${scene.project.id}`);
  const byPath = await scene.call('/projects/group%2Fproject');

  expect(byId.status).toBe(200);
  expect(byPath.body).toEqual(byId.body);
  expect(byId.body).toMatchObject({ path_with_namespace: 'group/project', default_branch: 'main' });
});

test('a path that GitLab does not have is not found, token or not', async () => {
  await using scene = await createScene();

  const answer = await scene.call(`/projects/${scene.project.id}/no_such_thing`, { as: null });

  expect(answer.status).toBe(404);
  expect(answer.body).toEqual({ error: '404 Not Found' });
});

test('the version is told', async () => {
  await using scene = await createScene();

  const version = await scene.call('/version');
  const metadata = await scene.call('/metadata');

  expect(version.body).toEqual({ version: expect.stringMatching(/^18\./), revision: expect.any(String) });
  expect(metadata.body).toMatchObject({ enterprise: true, version: expect.stringMatching(/^18\./) });
});

test('members are told with their level and others are not found', async () => {
  await using scene = await createScene();
  const stranger = scene.gitlab.addUser({ username: 'stranger' });
  const members = `/projects/${scene.project.id}/members/all`;

  expect((await scene.call(`${members}/${scene.dora.id}`)).body).toMatchObject({
    id: scene.dora.id,
    access_level: 30,
  });
  expect((await scene.call(`${members}/${stranger.id}`)).status).toBe(404);
  expect((await scene.call(`/users/${stranger.id}`)).body).toMatchObject({
    username: 'stranger',
    bot: false,
  });
});

test('every request is logged with its user and without its token', async () => {
  await using scene = await createScene();

  await scene.call('/user?private_token=glpat-leak');
  await scene.call('/nowhere', { as: 'glpat-wrong' });

  expect(scene.gitlab.requests).toEqual([
    { method: 'GET', path: '/api/v4/user', query: '', username: 'hummingbird', status: 200 },
    { method: 'GET', path: '/api/v4/nowhere', query: '', username: null, status: 404 },
  ]);
  expect(JSON.stringify(scene.gitlab.requests)).not.toContain('glpat');
});

test('a write is taken as a form too, and what is neither form nor JSON is refused', async () => {
  await using scene = await createScene();
  const post = (type: string, body: string) =>
    fetch(`${scene.gitlab.url}/api/v4${scene.mrPath}/notes`, {
      method: 'POST',
      headers: { 'private-token': scene.token, 'content-type': type },
      body,
    });

  const form = await post('application/x-www-form-urlencoded', 'body=from+a+form');
  const broken = await post('application/json', '{"body":');

  expect(form.status).toBe(201);
  expect(await form.json()).toMatchObject({ body: 'from a form' });
  expect(broken.status).toBe(400);
  expect(await broken.json()).toEqual({ error: 'message body does not match declared format' });
});
