// Secrets in everything that is read, and a model that repeats them wherever it can: none is left anywhere.
import { expect, test } from 'vitest';
import type { ScriptedAnswer } from '../services/model.ts';
import { EXAMPLES, toLine } from '../unit/redact/examples.ts';
import { readSessions, seen } from './places.ts';
import { SIGNING_KEY } from './scene.ts';
import {
  addHook,
  arrangeStopped,
  ask,
  ended,
  failPipeline,
  noteOf,
  PROVIDERS,
  scene,
} from './story-scene.ts';

/** The service's own, each as it is and in the forms in which a job may print it. */
function ownSecrets(): string[] {
  const { HUMMINGBIRD_QUEUE_URL: _, HUMMINGBIRD_WEBHOOK_SIGNING_TOKEN: __, ...env } = scene.env;
  const values = [...Object.values(env), SIGNING_KEY.toString('base64')];
  return values.flatMap((value) => {
    const bytes = Buffer.from(value);
    return [value, bytes.toString('base64'), bytes.toString('hex')];
  });
}

/** What must not be left of it: the last characters of base64 depend on what follows. */
function toCore(secret: string): string {
  return secret.replace(/.{2}=+$/, '');
}

const OTHERS = EXAMPLES.filter(({ secret }) => secret.length >= 12 && !secret.includes('\n'));

test.each(PROVIDERS)(
  'no secret is passed on to %s, nor to people, nor kept',
  async (provider) => {
    await arrangeStopped({ provider });
    const { gitlab, mr, project } = scene;
    const secrets = [...ownSecrets(), ...OTHERS.map(({ secret }) => secret)].map(toCore);
    const leak = [...ownSecrets(), ...OTHERS.map(toLine)].map((line) => `said ${line}`).join('\n');
    const [first = ''] = secrets;

    const { jobId } = failPipeline();
    gitlab.setTrace(jobId, `${leak}\n${'ok\n'.repeat(3_000)}AssertionError: expected 10.00\n${leak}\n`);
    gitlab.editMergeRequest(mr, { title: `Use ${OTHERS[0]?.secret} and ${first}` });
    gitlab.addFile({ projectId: project.id, ref: 'main', path: 'deploy.env', content: leak });
    const fetch = { tool: 'gitlab_get_job_log', args: { job_id: jobId }, path: '/tmp/data/unit.log' };
    const half = Math.floor(first.length / 2);
    const script: ScriptedAnswer[] = [
      {
        text: `I was told ${first}.`,
        calls: [
          { name: 'gitlab_get_mr_details' },
          { name: 'gitlab_get_file', arguments: { path: 'deploy.env' } },
          { name: 'fetch_to_sandbox', arguments: fetch },
          { name: 'gitlab_get_job_log', arguments: { job_id: jobId } },
          { name: `gitlab_get_${first}`, arguments: {} },
        ],
      },
      {
        calls: [
          {
            name: 'sandbox_exec',
            arguments: { command: `echo '${leak.replaceAll("'", '')}' | tee /tmp/data/said.txt` },
          },
          {
            name: 'sandbox_exec',
            // Put together where nobody looks, as if it had been unpacked.
            arguments: {
              command: `printf '%s%s' '${first.slice(0, half)}' '${first.slice(half)}' | tee /tmp/data/made.txt`,
            },
          },
        ],
      },
      { text: `It fails with "AssertionError: expected 10.00".\n\n${leak}` },
      { text: `You asked: ${leak}` },
    ];
    let turn = 0;
    scene.model.script = () => script[turn++] ?? { text: 'Nothing more.' };
    const service = await scene.start();
    addHook(service.url);
    gitlab.setJobStatus(jobId, 'running');
    gitlab.setJobStatus(jobId, 'failed', { failureReason: 'script_failure' });

    const note = await noteOf(0);
    ask(note.discussionId, `Is ${leak} wrong?`);
    const answer = await noteOf(1);
    await expect.poll(() => ended().length, { timeout: 20_000 }).toBe(2);

    const places: Record<string, string> = {
      'the requests to the model': JSON.stringify(scene.model.sent.map(({ path, body }) => [path, body])),
      'the log': JSON.stringify(scene.logged),
      'the note': seen(note.body),
      'the answer': seen(answer.body),
      'the readiness': await (await globalThis.fetch(`${service.url}/health/ready`)).text(),
      ...(await readSessions(scene)),
    };
    expect(Object.keys(places)).toEqual(
      expect.arrayContaining(['context.json', 'meta.json', 'transcript.jsonl', 'sandbox.tar.gz']),
    );
    const found = Object.entries(places).flatMap(([place, text]) =>
      secrets
        .filter((secret) => text.includes(secret) || text.includes(JSON.stringify(secret).slice(1, -1)))
        .map((secret) => `${secret} in ${place}`),
    );
    expect(found).toEqual([]);
    expect(places['sandbox.tar.gz']).toContain('AssertionError: expected 10.00');
    expect(places['sandbox.tar.gz']).toContain('tmp/data/made.txt');
    expect(note.body).toContain('AssertionError: expected 10.00');
    expect(seen(note.body)).toContain('[redacted: own-secret]');
    expect(seen(answer.body)).toContain('[redacted: gitlab-token]');
  },
  120_000,
);
