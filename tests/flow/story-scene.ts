// What the stories of the whole service have in common: a failed pipeline, a question, the agent's notes.
import type { ChatMessage } from '@copilotkit/aimock';
import { afterEach, expect } from 'vitest';
import type { HookEvent } from '../../src/demo/gitlab/hook.ts';
import { pglite } from '../services/backends.ts';
import { type ModelScript, textOf } from '../services/model.ts';
import { createScene, type Provider, type Scene, type SceneOptions, WEBHOOK_TOKEN } from './scene.ts';

export const PROVIDERS: Provider[] = ['anthropic', 'gemini'];
export const EVENTS: HookEvent[] = [
  'pipeline_events',
  'merge_requests_events',
  'note_events',
  'emoji_events',
];
const LOG = `${'ok - passing test\n'.repeat(2_000)}AssertionError: expected 10.00 to equal 10.01\n`;
export const FINDING =
  '**The rounding change broke `invoice.test.ts`.**\n\n```\nAssertionError: expected 10.00 to equal 10.01\n```';
export const REPLY = 'No, that one timed out before it got there.';

/** Of the test that runs. */
export let scene: Scene;
afterEach(() => scene?.close());

export async function arrange(options: Partial<SceneOptions> = {}) {
  await arrangeStopped(options);
  return start();
}

/** Everything but the service. */
export async function arrangeStopped(options: Partial<SceneOptions> = {}) {
  scene = await createScene({ backend: await pglite.create(), ...options });
}

export async function start() {
  const service = await scene.start();
  return addHook(service.url);
}

export function addHook(serviceUrl: string) {
  const url = `${serviceUrl}/webhooks/gitlab`;
  return scene.gitlab.addHook({ projectId: scene.project.id, url, token: WEBHOOK_TOKEN, events: EVENTS });
}

export function failPipeline({ gitlab, mr }: Scene = scene): { jobId: number } {
  const pipeline = gitlab.addPipeline({ mergeRequest: mr, jobs: [{ name: 'unit tests' }] });
  const jobId = gitlab.jobs(pipeline.id)[0]?.id ?? 0;
  gitlab.setTrace(jobId, LOG);
  gitlab.setJobStatus(jobId, 'failed', { failureReason: 'script_failure' });
  return { jobId };
}

export function ask(discussionId: string, body: string) {
  return scene.gitlab.addNote({ ...scene.mr, userId: scene.nadia.id, body, discussionId });
}

/** The agent's. */
export const notes = () =>
  scene.gitlab.notes(scene.project.id, scene.mr.iid).filter(({ authorId }) => authorId === scene.agent.id);
export const ended = () => scene.logged.filter(({ msg }) => msg === 'job ended');

export async function noteOf(index: number) {
  await expect.poll(() => notes()[index], { timeout: 40_000 }).toBeDefined();
  const note = notes()[index];
  if (!note) throw new Error('no note');
  return note;
}

export const lastUser = (conversation: ChatMessage[] = []) =>
  conversation.findLast(({ role }) => role === 'user') ?? { role: 'user' as const, content: '' };
export const system = (conversation: ChatMessage[] = []) =>
  conversation
    .filter(({ role }) => role === 'system')
    .map(textOf)
    .join('\n');
/** All the model was sent last. */
export const lastRequest = () => scene.model.conversations().at(-1)?.map(textOf).join('\n');

/** Fetches the log, looks into it, and says what it found; a question is answered from the same file. */
export function investigate(jobId: number): ModelScript {
  const grep = { name: 'sandbox_exec', arguments: { command: 'grep -n AssertionError /tmp/data/unit.log' } };
  const fetch = {
    name: 'fetch_to_sandbox',
    arguments: { tool: 'gitlab_get_job_log', args: { job_id: jobId }, path: '/tmp/data/unit.log' },
  };
  return (conversation) => {
    const asked = conversation.findLastIndex(({ role }) => role === 'user');
    const isReply = conversation.filter(({ role }) => role === 'user').length > 1;
    const results = conversation.slice(asked).filter(({ role }) => role === 'tool').length;
    if (isReply) return results === 0 ? { calls: [grep] } : { text: REPLY };
    if (results === 0) return { text: 'Let me see.', calls: [{ name: 'gitlab_get_mr_details' }, fetch] };
    return results === 2 ? { calls: [grep] } : { text: FINDING };
  };
}
