// The whole story on one machine: a pretend GitLab, the service on its embedded profile, a model.
import { randomBytes } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Logger } from 'pino';
import { stringify } from 'yaml';
import type { AgentEvent } from '../agent/events.ts';
import { loadConfig } from '../config/config.ts';
import { withDeadline } from '../deadline.ts';
import { type Service, startService } from '../service/service.ts';
import { chooseModel, type DemoModel } from './choose-model.ts';
import type { Delivery, Hook } from './gitlab/hook.ts';
import type { Note } from './gitlab/model.ts';
import { createPretendGitlab, type PretendGitlab } from './gitlab/server.ts';
import { createJobEndings, type JobEnding, type JobEndings } from './job-endings.ts';
import { createPretendKonflux, type PretendKonflux } from './konflux/server.ts';
import type { Screen } from './screen.ts';
import { addKonfluxRun, KONFLUX_NAMESPACE } from './story/konflux-run.ts';
import { arrangeStory, QUESTION, type Story } from './story/scene.ts';

export interface DemoOptions {
  screen: Screen;
  version: string;
  /** A pause here and there, so that a person can follow. */
  stepMs: number;
  /** Ends the demo at once, wherever it is; nothing of it stays behind. */
  signal: AbortSignal;
  /** Called when the story is told; the demo ends when it resolves. */
  beforeEnd: (urls: { gitlab: string; service: string }) => Promise<void>;
}

/** A model may think for long; that a job ended is known at once. */
const NOTE_TIMEOUT_MS = 900_000;

export async function runDemo({ screen, version, stepMs, signal, beforeEnd }: DemoOptions): Promise<void> {
  await using stage = new AsyncDisposableStack();
  const folder = mkdtempSync(join(tmpdir(), 'hummingbird-demo-'));
  stage.defer(() => rmSync(folder, { recursive: true, force: true, maxRetries: 3 }));
  const gitlab = await createPretendGitlab();
  stage.defer(() => gitlab.close());
  const story = arrangeStory(gitlab, { stepMs });
  const konflux = await createPretendKonflux({
    namespace: KONFLUX_NAMESPACE,
    token: randomBytes(24).toString('hex'),
  });
  stage.defer(() => konflux.close());
  addKonfluxRun(konflux, { projectId: story.project.id, sha: story.mergeRequest.commits.at(-1) ?? '' });
  const model = await chooseModel(story, folder, stepMs);
  stage.defer(() => model.close());

  screen.chapter('Setting the stage, all of it on this machine');
  screen.step(
    'GitLab',
    `${gitlab.url}, a pretend one: ${story.project.path} !${story.mergeRequest.iid} "${story.mergeRequest.title}"`,
  );
  screen.step(
    'Konflux',
    `${konflux.cluster.url}, a pretend cluster, and ${konflux.archive.url}, its archive`,
  );
  screen.step('model', model.description);
  const jobs = createJobEndings((trouble) => signal.aborted || screen.step('trouble', trouble));
  const webhookToken = randomBytes(24).toString('hex');
  const watch = (event: AgentEvent) => signal.aborted || screen.agent(event);
  const parts = { folder, konflux, model, webhookToken, watch, log: jobs.log, version };
  const service = await start(gitlab, story, parts);
  stage.defer(() => service.stop());
  signal.throwIfAborted();
  screen.step('service', `${service.url}: queue in PGlite, sessions in a folder, a virtual sandbox`);
  const hook = gitlab.addHook({
    projectId: story.project.id,
    url: `${service.url}/webhooks/gitlab`,
    token: webhookToken,
    events: ['pipeline_events', 'merge_requests_events', 'note_events', 'emoji_events'],
  });

  const show = showDeliveries(hook, screen);
  stage.defer(() => clearInterval(show));
  await tell({ gitlab, story, screen, jobs, stepMs, signal });
  await beforeEnd({ gitlab: gitlab.url, service: service.url });
}

interface Telling {
  gitlab: PretendGitlab;
  story: Story;
  screen: Screen;
  jobs: JobEndings;
  stepMs: number;
  signal: AbortSignal;
}

async function tell({ gitlab, story, screen, jobs, stepMs, signal }: Telling): Promise<void> {
  const { agent, developer, mergeRequest } = story;
  const byAgent = (): Readonly<Note>[] =>
    gitlab.notes(mergeRequest.projectId, mergeRequest.iid).filter(({ authorId }) => authorId === agent.id);

  screen.chapter('The pipeline runs and fails; GitLab calls the webhook');
  const analyzed = Promise.all([jobs.next('analyze', signal), story.failPipeline()]);
  const [analysisEnding] = await withDeadline(NOTE_TIMEOUT_MS, 'the analysis', analyzed);
  const analysis = expectNote(byAgent()[0], 'analysis', analysisEnding);
  screen.chapter('A note is on the merge request');
  screen.note(agent.name, analysis.body);
  expectAnswer('analysis', analysisEnding);

  await sleep(stepMs, undefined, { signal });
  screen.chapter(
    `${developer.name} replies in the thread, and the same session goes on, with its history and files`,
  );
  screen.note(developer.name, QUESTION);
  const answered = jobs.next('reply', signal);
  story.ask(analysis.discussionId);
  const replyEnding = await withDeadline(NOTE_TIMEOUT_MS, 'the answer', answered);
  const reply = expectNote(byAgent()[1], 'answer', replyEnding);
  screen.chapter('The answer is in the thread');
  screen.note(agent.name, reply.body);
  expectAnswer('answer', replyEnding);
}

function expectNote(note: Readonly<Note> | undefined, what: string, how: JobEnding): Readonly<Note> {
  if (!note) throw new Error(`the ${what} ended without a note (${how.ending}): ${how.reason}`);
  return note;
}

/** A used-up budget still gives an answer; anything else gives only its reason. */
function expectAnswer(what: string, { ending, reason }: JobEnding): void {
  if (!['answered', 'iterations', 'context'].includes(ending))
    throw new Error(`the ${what} broke off (${ending}): ${reason}`);
}

interface Parts {
  folder: string;
  konflux: PretendKonflux;
  model: DemoModel;
  webhookToken: string;
  watch: (event: AgentEvent) => void;
  log: Logger;
  version: string;
}

async function start(gitlab: PretendGitlab, story: Story, parts: Parts): Promise<Service> {
  const { folder, konflux, model, webhookToken, watch, log, version } = parts;
  const file = join(folder, 'hummingbird.yaml');
  const text = stringify({
    gitlab: { url: gitlab.url, maxRequestsPerMinute: 6_000 },
    server: { port: 0 },
    webhook: { spool: { dir: join(folder, 'spool') } },
    queue: {
      url: `pglite:${join(folder, 'db')}`,
      urlEnv: 'DEMO_QUEUE_URL',
      debounceMs: 1_000,
      // Somebody is watching: better to hear soon why it does not work.
      attempts: 2,
      backoffMs: 1_000,
    },
    store: { kind: 'folder', dir: join(folder, 'sessions') },
    sources: { konflux: { clusters: [toCluster(konflux, story)] } },
    models: model.config,
  });
  writeFileSync(file, text);
  const { config } = loadConfig({ file });
  const env = {
    ...model.env,
    HUMMINGBIRD_WEBHOOK_TOKEN: webhookToken,
    KONFLUX_TOKEN: konflux.token,
    GITLAB_READ_TOKEN: gitlab.addToken({ userId: story.agent.id, scopes: ['read_api'] }),
    GITLAB_WRITE_TOKEN: gitlab.addToken({ userId: story.agent.id, scopes: ['api'] }),
  };
  return startService({
    config,
    role: 'all',
    log,
    version,
    env,
    watch: ({ event }) => watch(event),
    // Nobody comes back for a job that is under way.
    stopGraceMs: 0,
  });
}

function toCluster({ cluster, archive, namespace }: PretendKonflux, { project }: Story) {
  return {
    url: cluster.url,
    kubearchiveUrl: archive.url,
    uiUrl: 'https://konflux.example.com',
    namespaces: { [project.path]: namespace },
  };
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
