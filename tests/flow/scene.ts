// The service with real HTTP, queue and records, called by a pretend GitLab.
import { createHmac, randomBytes, randomUUID } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pino from 'pino';
import { stringify } from 'yaml';
import { loadConfig } from '../../src/config/config.ts';
import { createPretendGitlab, type PretendGitlab } from '../../src/demo/gitlab/server.ts';
import type { Role } from '../../src/service/assembly.ts';
import { type Service, startService } from '../../src/service/service.ts';
import { startModel } from '../services/model.ts';

export const WEBHOOK_TOKEN = 'current-webhook-token';
export const OLD_WEBHOOK_TOKEN = 'previous-webhook-token';
export const SIGNING_KEY = randomBytes(32);

export type Provider = keyof typeof MODELS;

export interface SceneOptions {
  backend: { url: string; keyPrefix: string };
  /** Sections of hummingbird.yaml over those of the scene. */
  config?: Record<string, Record<string, unknown>>;
  now?: () => number;
  /** Which vendor's wire format the model speaks. */
  provider?: Provider;
  /** Further variables of the service. */
  env?: Record<string, string>;
  /** A model that is asked first. */
  before?: { provider: Provider; baseUrl: string };
}

export const ANSWER = 'The unit tests fail because prices are rounded half up.';

export type Scene = Awaited<ReturnType<typeof createScene>>;

/** A project with an open merge request, a person, the agent's account, and the service's surroundings. */
export async function createScene(options: SceneOptions) {
  const gitlab = await createPretendGitlab({ hookRetries: 0 });
  const nadia = gitlab.addUser({ username: 'nadia', name: 'Nadia Rahman' });
  const agent = gitlab.addUser({ username: 'hummingbird', name: 'Hummingbird', bot: true });
  const project = gitlab.addProject({
    path: 'shop/checkout',
    members: [nadia, agent].map(({ id }) => ({ userId: id, accessLevel: 30 as const })),
  });
  const mr = gitlab.addMergeRequest({
    projectId: project.id,
    authorId: nadia.id,
    title: 'Round prices half up',
    sourceBranch: 'round-prices',
  });
  const model = await startModel(() => ({ text: ANSWER }));
  const folder = mkdtempSync(join(tmpdir(), 'hummingbird-scene-'));
  const file = join(folder, 'hummingbird.yaml');
  const writeConfig = (given: SceneOptions): void =>
    writeFileSync(file, stringify(toConfig(given, { gitlabUrl: gitlab.url, modelUrl: model.url, folder })));
  writeConfig(options);
  const env = {
    HUMMINGBIRD_QUEUE_URL: options.backend.url,
    HUMMINGBIRD_WEBHOOK_TOKEN: WEBHOOK_TOKEN,
    HUMMINGBIRD_WEBHOOK_TOKEN_PREVIOUS: OLD_WEBHOOK_TOKEN,
    HUMMINGBIRD_WEBHOOK_SIGNING_TOKEN: `whsec_${SIGNING_KEY.toString('base64')}`,
    MODEL_KEY: 'key-of-the-model-vendor',
    GITLAB_READ_TOKEN: gitlab.addToken({ userId: agent.id, scopes: ['read_api'] }),
    GITLAB_WRITE_TOKEN: gitlab.addToken({ userId: agent.id, scopes: ['api'] }),
    ...options.env,
  };

  const services: Service[] = [];
  const logged: Record<string, unknown>[] = [];
  const log = pino({ level: 'debug' }, { write: (line: string) => void logged.push(JSON.parse(line)) });

  return {
    gitlab,
    nadia,
    agent,
    project,
    mr,
    model,
    file,
    env,
    folder,
    /** Every line the service has logged. */
    logged,
    /** The head of the merge request. */
    sha: () => mr.commits.at(-1) ?? '',
    eyes: () => gitlab.awards(mr).filter(({ name }) => name === 'eyes'),

    async start(role: Role = 'all'): Promise<Service> {
      const { config } = loadConfig({ file });
      const now = options.now && { now: options.now };
      const service = await startService({ config, role, log, version: 'test', env, ...now });
      services.push(service);
      return service;
    },

    /** From the next start on. */
    useProvider(provider: Provider) {
      writeConfig({ ...options, provider });
    },

    configure(config: NonNullable<SceneOptions['config']>) {
      writeConfig({ ...options, config });
    },

    forgetSessions() {
      rmSync(join(folder, 'sessions'), { recursive: true });
    },

    async stop() {
      for (const service of services.splice(0)) await service.stop();
    },

    async close() {
      await this.stop();
      await gitlab.close();
      await model.stop();
    },
  };
}

interface Surroundings {
  gitlabUrl: string;
  modelUrl: string;
  folder: string;
}

export const MODELS = {
  anthropic: 'claude-sonnet-5-5',
  gemini: 'gemini-3.8-flash',
  openai: 'qwen3.8-coder',
};

function toConfig(
  { backend, config = {}, provider = 'anthropic', before }: SceneOptions,
  around: Surroundings,
) {
  const { gitlabUrl, modelUrl, folder } = around;
  const chain = [...(before ? [before] : []), { provider, baseUrl: modelUrl }].map((one) => ({
    ...one,
    baseUrl: one.provider === 'openai' ? `${one.baseUrl}/v1` : one.baseUrl,
    model: MODELS[one.provider],
    apiKeyEnv: 'MODEL_KEY',
  }));
  const base: Record<string, Record<string, unknown>> = {
    models: { main: chain, prices: { [MODELS.openai]: { input: 0, output: 0 } } },
    store: { kind: 'folder', dir: join(folder, 'sessions') },
    gitlab: { url: gitlabUrl, maxRequestsPerMinute: 6_000 },
    server: { port: 0 },
    webhook: { spool: { dir: join(folder, 'spool') } },
    projects: { 'shop/**': {} },
    reconcile: { everyMs: 0 },
    queue: {
      keyPrefix: backend.keyPrefix,
      debounceMs: 200,
      debounceMaxMs: 1_000,
      backoffMs: 100,
      lockMs: 2_000,
    },
  };
  const sections = Object.keys({ ...base, ...config });
  const isWhole = (name: string): boolean => name === 'store' && config[name] !== undefined;
  return Object.fromEntries(
    sections.map((name) => [name, { ...(!isWhole(name) && base[name]), ...config[name] }]),
  );
}

export interface Delivery {
  headers?: Record<string, string>;
  idempotencyKey?: string;
}

/** Delivers an event as GitLab does; answers status and body. */
export async function deliver(service: Service, payload: unknown, delivery: Delivery = {}) {
  const body = typeof payload === 'string' ? payload : JSON.stringify(payload);
  const response = await fetch(`${service.url}/webhooks/gitlab`, {
    method: 'POST',
    body,
    headers: {
      'content-type': 'application/json',
      'idempotency-key': delivery.idempotencyKey ?? randomUUID(),
      ...(delivery.headers ?? { 'x-gitlab-token': WEBHOOK_TOKEN }),
    },
  });
  const text = await response.text();
  return { status: response.status, body: JSON.parse(text) as Record<string, unknown> };
}

export function signed(
  payload: unknown,
  { key = SIGNING_KEY, at = Date.now() } = {},
): Record<string, string> {
  const timestamp = `${Math.floor(at / 1_000)}`;
  const content = `msg_1.${timestamp}.${JSON.stringify(payload)}`;
  const signature = createHmac('sha256', key).update(content).digest('base64');
  return { 'webhook-id': 'msg_1', 'webhook-timestamp': timestamp, 'webhook-signature': `v1,${signature}` };
}

/** How often the service has looked for its reaction: once for each analysis. */
export function readsOf(gitlab: PretendGitlab, iid: number): number {
  return gitlab.requests.filter(
    ({ method, path }) => method === 'GET' && new RegExp(`/merge_requests/${iid}/award_emoji$`).test(path),
  ).length;
}

/** Settings for a workflow with one tool: what a call may cost at most depends on how much is said of tools. */
export function oneToolWorkflow() {
  const dir = mkdtempSync(join(tmpdir(), 'hummingbird-workflows-'));
  const head = '---\non: [pipeline_failed, mention]\ntools: [gitlab_get_mr_details]\n---';
  writeFileSync(join(dir, 'small.md'), `${head}\nFind out why this failed.\n`);
  return { workflows: { dir, onFailedPipeline: 'small' } };
}
