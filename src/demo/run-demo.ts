// The whole story on one machine: a pretend GitLab, the service on its embedded profile, a model.
import { randomBytes } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Logger } from 'pino';
import { stringify } from 'yaml';
import { loadConfig } from '../config/config.ts';
import { type Service, startService } from '../service/service.ts';
import { chooseModel, type DemoModel } from './choose-model.ts';
import type { Delivery, Hook } from './gitlab/hook.ts';
import type { Note } from './gitlab/model.ts';
import { createPretendGitlab, type PretendGitlab } from './gitlab/server.ts';
import type { Screen } from './screen.ts';
import { arrangeStory, QUESTION, type Story } from './story/scene.ts';

export interface DemoOptions {
  screen: Screen;
  log: Logger;
  version: string;
  /** A pause here and there, so that a person can follow. */
  stepMs: number;
  /** Called when the story is told; the demo ends when it resolves. */
  beforeEnd: (urls: { gitlab: string; service: string }) => Promise<void>;
}

const NOTE_TIMEOUT_MS = 300_000;

export async function runDemo({ screen, log, version, stepMs, beforeEnd }: DemoOptions): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'hummingbird-demo-'));
  const gitlab = await createPretendGitlab();
  const story = arrangeStory(gitlab, { stepMs });
  const model = await chooseModel(story, folder, stepMs);
  const stops: (() => Promise<unknown>)[] = [() => gitlab.close(), () => model.close()];
  try {
    screen.chapter('Setting the stage, all of it on this machine');
    screen.step(
      'GitLab',
      `${gitlab.url}, a pretend one: ${story.project.path} !${story.mergeRequest.iid} "${story.mergeRequest.title}"`,
    );
    screen.step('model', model.description);
    const webhookToken = randomBytes(24).toString('hex');
    const service = await start(gitlab, story, { folder, model, webhookToken, screen, log, version });
    stops.push(() => service.stop());
    screen.step('service', `${service.url}: queue in PGlite, sessions in a folder, a virtual sandbox`);
    const hook = gitlab.addHook({
      projectId: story.project.id,
      url: `${service.url}/webhooks/gitlab`,
      token: webhookToken,
      events: ['pipeline_events', 'merge_requests_events', 'note_events', 'emoji_events'],
    });

    const show = showDeliveries(hook, screen);
    stops.push(async () => clearInterval(show));
    await tell(gitlab, story, screen, stepMs);
    await beforeEnd({ gitlab: gitlab.url, service: service.url });
  } finally {
    for (const stop of stops.reverse()) await stop();
    rmSync(folder, { recursive: true, force: true });
  }
}

async function tell(gitlab: PretendGitlab, story: Story, screen: Screen, stepMs: number): Promise<void> {
  const { agent, developer, mergeRequest } = story;
  const byAgent = (): Readonly<Note>[] =>
    gitlab.notes(mergeRequest.projectId, mergeRequest.iid).filter(({ authorId }) => authorId === agent.id);

  screen.chapter('The pipeline runs and fails; GitLab calls the webhook');
  await story.failPipeline();
  const analysis = await until(() => byAgent()[0], 'the note');
  screen.chapter('A note is on the merge request');
  screen.note(agent.name, analysis.body);

  await sleep(stepMs);
  screen.chapter(
    `${developer.name} replies in the thread, and the same session goes on, with its history and files`,
  );
  screen.note(developer.name, QUESTION);
  story.ask(analysis.discussionId);
  const reply = await until(() => byAgent()[1], 'the answer');
  screen.chapter('The answer is in the thread');
  screen.note(agent.name, reply.body);
}

async function until<T>(find: () => T | undefined, what: string): Promise<T> {
  const deadline = Date.now() + NOTE_TIMEOUT_MS;
  while (Date.now() < deadline) {
    const found = find();
    if (found !== undefined) return found;
    await sleep(50);
  }
  throw new Error(`${what} did not come within ${NOTE_TIMEOUT_MS / 1_000} s`);
}

interface Stage {
  folder: string;
  model: DemoModel;
  webhookToken: string;
  screen: Screen;
  log: Logger;
  version: string;
}

async function start(gitlab: PretendGitlab, story: Story, stage: Stage): Promise<Service> {
  const { folder, model, webhookToken, screen, log, version } = stage;
  const file = join(folder, 'hummingbird.yaml');
  const text = stringify({
    gitlab: { url: gitlab.url, maxRequestsPerMinute: 6_000 },
    server: { port: 0 },
    webhook: { spool: { dir: join(folder, 'spool') } },
    queue: { url: `pglite:${join(folder, 'db')}`, urlEnv: 'DEMO_QUEUE_URL', debounceMs: 1_000 },
    store: { kind: 'folder', dir: join(folder, 'sessions') },
    models: model.config,
  });
  writeFileSync(file, text);
  const { config } = loadConfig({ file });
  const env = {
    ...model.env,
    HUMMINGBIRD_WEBHOOK_TOKEN: webhookToken,
    GITLAB_READ_TOKEN: gitlab.addToken({ userId: story.agent.id, scopes: ['read_api'] }),
    GITLAB_WRITE_TOKEN: gitlab.addToken({ userId: story.agent.id, scopes: ['api'] }),
  };
  return startService({ config, role: 'all', log, version, env, watch: ({ event }) => screen.agent(event) });
}

/** Shows each delivery once it was answered. */
function showDeliveries(hook: Readonly<Hook>, screen: Screen): NodeJS.Timeout {
  let shown = 0;
  return setInterval(() => {
    for (const delivery of hook.deliveries.slice(shown)) screen.step('webhook', describe(delivery));
    shown = hook.deliveries.length;
  }, 50);
}

function describe({ requestHeaders, status, responseBody, error }: Delivery): string {
  const event = Object.entries(requestHeaders).find(([name]) => name.toLowerCase() === 'x-gitlab-event')?.[1];
  return `${event} → ${status ?? error} ${responseBody}`;
}
