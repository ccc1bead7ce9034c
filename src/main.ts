// Composition root: config → adapters → API and/or worker → graceful stop.
import { setTimeout as sleep } from 'node:timers/promises';
import Fastify, { type FastifyBaseLogger, type FastifyInstance, LogController } from 'fastify';
import type { Logger } from 'pino';
import { type BackendConnection, connectBackend } from './backend.ts';
import { type Config, projectLimits, readSecrets, type Secrets } from './config/config.ts';
import { createGitlabClient, type GitlabClient } from './gitlab/client.ts';
import { createRunJob } from './jobs/run-job.ts';
import { type HealthCheck, healthRoutes } from './ops/health.ts';
import { type AgentAccount, createAgentAccount } from './publish/agent-account.ts';
import { createReactions } from './publish/reactions.ts';
import type { JobWorker } from './queue/queue.ts';
import { createMergeRequests } from './sources/gitlab/merge-requests.ts';
import { createIntake } from './webhook/intake.ts';
import { webhookRoutes } from './webhook/routes.ts';
import { openSpool } from './webhook/spool.ts';

export type Role = 'api' | 'worker' | 'all';

export interface ServiceOptions {
  config: Config;
  role: Role;
  log: Logger;
  version: string;
  env?: NodeJS.ProcessEnv;
  /** The clock by which events are remembered and signatures judged. */
  now?: () => number;
}

export interface Service {
  url: string;
  /** Answers what is under way, hands running jobs over, then lets go of everything. */
  stop(): Promise<void>;
}

/** What was started, and how each part of it is stopped, newest first. */
interface Assembly extends Required<Omit<ServiceOptions, 'env' | 'version'>> {
  secrets: Secrets;
  backend: BackendConnection;
  app: FastifyInstance;
  checks: HealthCheck[];
  onStop(stop: () => Promise<unknown>): void;
}

const REQUEST_TIMEOUT_MS = 30_000;
const STOP_GRACE_MS = 20_000;
const LEARN_AGENT_MS = 5_000;

export async function startService(options: ServiceOptions): Promise<Service> {
  const { config, role, log, version, env, now = Date.now } = options;
  const isApi = role !== 'worker';
  const isWorker = role !== 'api';
  const secrets = readSecrets(config, { webhook: isApi, gitlabRead: isWorker, gitlabWrite: isWorker }, env);
  for (const warning of secrets.warnings) log.warn(warning);

  const stops: (() => Promise<unknown>)[] = [];
  const stop = async (): Promise<void> => {
    for (const stopPart of stops.splice(0).reverse()) await stopPart();
  };
  try {
    const backend = await connectBackend(secrets.queueUrl, config.queue, log);
    stops.push(() => backend.close());
    const app = Fastify({
      loggerInstance: log as FastifyBaseLogger,
      logController: new LogController({ disableRequestLogging: true }),
      requestTimeout: REQUEST_TIMEOUT_MS,
    });
    const checks: HealthCheck[] = [queueCheck(backend, !isApi)];
    const assembly = {
      config,
      role,
      log,
      now,
      secrets,
      backend,
      app,
      checks,
      onStop: stops.push.bind(stops),
    };

    const agent = connectAgent(assembly);
    if (isWorker) startWorker(assembly, agent);
    if (isApi) await addWebhook(assembly, agent?.account ?? null);
    await app.register(healthRoutes(checks, { role, version }));
    stops.push(() => app.close());
    const url = await app.listen({ host: config.server.host, port: config.server.port });
    log.info({ url, role, version }, 'service started');
    return { url, stop };
  } catch (error) {
    await stop();
    throw error;
  }
}

async function addWebhook(
  { config, secrets, backend, app, checks, log, now, onStop }: Assembly,
  agent: AgentAccount | null,
): Promise<void> {
  const spool = await openSpool({
    ...config.webhook.spool,
    onBadFile: (file, err) => log.error({ file, err }, 'spooled event can not be read, set aside'),
  });
  const intake = createIntake({
    // Looked up for each event: the backend may come later than the first one.
    queue: { add: (...args) => backend.current().queue.add(...args) },
    events: {
      claim: (...args) => backend.current().records.events.claim(...args),
      remember: (...args) => backend.current().records.events.remember(...args),
      release: (...args) => backend.current().records.events.release(...args),
    },
    spool,
    log,
    now,
    rememberMs: config.webhook.rememberEventsMs,
  });
  onStop(() => intake.stop());
  checks.push({ name: 'spool', required: true, check: async () => spool.check() });

  await app.register(
    webhookRoutes({
      verify: {
        tokens: secrets.webhookTokens,
        signingKeys: secrets.webhookSigningKeys,
        replayWindowMs: config.webhook.replayWindowMs,
        now,
      },
      context: () => ({
        agent: agent?.known() ?? null,
        isAllowed: (project) => projectLimits(config, project) !== null,
        ignoreUsers: config.gitlab.ignoreUsers,
      }),
      intake,
      maxBodyBytes: config.webhook.maxBodyBytes,
    }),
  );
}

function startWorker(assembly: Assembly, agent: ConnectedAgent | null): void {
  const { config, secrets, backend, checks, log, now, role, onStop } = assembly;
  if (!secrets.gitlabReadToken || !agent) throw new Error('a worker needs both GitLab tokens');
  const reader = createClient(assembly, secrets.gitlabReadToken);
  checks.push({
    name: 'gitlab',
    required: role === 'worker',
    check: () => reader.ping().then(() => undefined),
  });

  let worker: JobWorker | undefined;
  let stopping = false;
  onStop(async () => {
    stopping = true;
    await worker?.stop(STOP_GRACE_MS);
  });

  const working = backend.whenConnected(async ({ queue, records }) => {
    const runJob = createRunJob({
      mergeRequests: createMergeRequests(reader),
      reactions: createReactions(agent.client, agent.account),
      agent: agent.account,
      records,
      queue,
      log,
      now,
    });
    if (stopping) return;
    worker = await queue.work(runJob, {
      concurrency: config.queue.concurrency,
      maxConcurrent: (job) => projectLimits(config, job.project)?.maxConcurrent ?? 1,
      onError: (error) => log.warn({ err: error }, 'worker error'),
      onEnd: ({ id, job, attempt }, outcome) => {
        const fields = { job: id, kind: job.kind, attempt, outcome: outcome.kind };
        if (outcome.kind === 'failed')
          log.error({ ...fields, err: outcome.error, willRetry: outcome.willRetry }, 'job failed');
        else log.debug(fields, 'job left the worker');
      },
    });
    if (stopping) await worker.stop(0);
    log.info({ concurrency: config.queue.concurrency }, 'worker started');
  });
  working.catch((error) => log.fatal({ err: error }, 'worker could not start'));
}

interface ConnectedAgent {
  client: GitlabClient;
  account: AgentAccount;
}

/** The write token's account. Until GitLab told who that is, the webhook can not know the agent's own notes. */
function connectAgent(assembly: Assembly): ConnectedAgent | null {
  const { secrets, log, onStop } = assembly;
  if (!secrets.gitlabWriteToken) return null;
  const client = createClient(assembly, secrets.gitlabWriteToken);
  const account = createAgentAccount(client);
  const stopping = new AbortController();
  const learn = async (): Promise<void> => {
    while (!stopping.signal.aborted && !account.known()) {
      await account.get().catch((error) => log.warn({ err: error }, "the agent's account is not known yet"));
      if (!account.known())
        await sleep(LEARN_AGENT_MS, undefined, { signal: stopping.signal }).catch(() => undefined);
    }
  };
  const learning = learn();
  onStop(async () => {
    stopping.abort();
    await learning;
  });
  return { client, account };
}

function createClient({ config, log, onStop }: Assembly, token: string): GitlabClient {
  const { url, caFile, timeoutMs, maxRequestsPerMinute } = config.gitlab;
  const client = createGitlabClient({
    url,
    token,
    timeoutMs,
    maxRequestsPerMinute,
    log,
    ...(caFile !== undefined && { caFile }),
  });
  onStop(() => client.close());
  return client;
}

function queueCheck(backend: BackendConnection, required: boolean): HealthCheck {
  return {
    name: 'queue',
    // With a spool the API takes events without a queue; taken out of service it would lose them.
    required,
    async check() {
      const { database, queue } = backend.current();
      await database.ping();
      return { ...(await queue.counts()) };
    },
  };
}
