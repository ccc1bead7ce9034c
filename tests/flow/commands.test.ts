// The commands a person runs by hand, as processes of their own.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { afterEach, describe, expect, test } from 'vitest';
import { pglite } from '../services/backends.ts';
import { ANSWER, createScene, type Scene } from './scene.ts';

const PROGRAM = join(import.meta.dirname, '../../bin/hummingbird');

async function hummingbird(args: string[], env: Record<string, string> = {}) {
  const child = spawn(PROGRAM, args, { env: { PATH: process.env.PATH, TMPDIR: process.env.TMPDIR, ...env } });
  const [stdout, stderr, [code]] = await Promise.all([
    text(child.stdout),
    text(child.stderr),
    once(child, 'exit'),
  ]);
  return { code, stdout, stderr };
}

test('demo tells the whole story and ends well', async () => {
  const { code, stdout, stderr } = await hummingbird(['demo', '--fast']);
  expect(stderr).toBe('');
  expect(code).toBe(0);
  const chapters = [
    'Pipeline Hook → 202 {"status":"queued"',
    'calls    gitlab_get_mr_details',
    'calls    fetch_batch_to_sandbox',
    'A note is on the merge request',
    'Verdict: caused by this merge request',
    'Mira Okafor replies in the thread',
    'Note Hook → 202 {"status":"queued"',
    'The answer is in the thread',
    'No, it is another problem',
    'To run it on your own GitLab',
  ];
  const places = chapters.map((chapter) => stdout.indexOf(chapter));
  expect(places).not.toContain(-1);
  expect(places).toEqual(places.toSorted((a, b) => a - b));
}, 60_000);

describe('analyze', () => {
  let scene: Scene;
  afterEach(() => scene.close());

  test('prints the note and posts nothing, or posts it when told to', async () => {
    scene = await createScene({ backend: await pglite.create() });
    const url = `${scene.gitlab.url}/${scene.project.path}/-/merge_requests/${scene.mr.iid}`;
    const dry = await hummingbird(['analyze', url, '--config', scene.file], scene.env);
    expect(dry).toMatchObject({ code: 0, stdout: expect.stringContaining(ANSWER) });
    expect(dry.stderr).toContain('nothing was posted');
    expect(scene.gitlab.notes(scene.project.id, scene.mr.iid)).toEqual([]);

    const posted = await hummingbird(['analyze', url, '--post', '--config', scene.file], scene.env);
    expect(posted.code).toBe(0);
    expect(scene.gitlab.notes(scene.project.id, scene.mr.iid)).toMatchObject([
      { authorId: scene.agent.id, body: expect.stringContaining(ANSWER) },
    ]);
  }, 60_000);

  test('needs no write token to look, and says what is wrong with an address', async () => {
    scene = await createScene({ backend: await pglite.create() });
    const { GITLAB_WRITE_TOKEN: _token, ...env } = scene.env;
    const url = `${scene.gitlab.url}/${scene.project.path}/-/merge_requests/${scene.mr.iid}`;
    expect((await hummingbird(['analyze', url, '--config', scene.file], env)).code).toBe(0);
    const elsewhere = await hummingbird(
      ['analyze', 'https://example.com/a/b/-/merge_requests/1', '-c', scene.file],
      env,
    );
    expect(elsewhere).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('is not the configured GitLab'),
    });
    const missing = await hummingbird(['analyze', url.replace(/\d+$/, '99'), '-c', scene.file], env);
    expect(missing).toMatchObject({ code: 1, stderr: expect.stringContaining('404') });
  }, 60_000);
});
