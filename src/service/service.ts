// Composition root: config → adapters → API and/or worker → graceful stop.
import Fastify, { type FastifyBaseLogger, type FastifyInstance, LogController } from 'fastify';
import type { Logger } from 'pino';
import { type Config, readSecrets } from '../config/config.ts';
import { withDeadline } from '../deadline.ts';
import type { LiveEvent } from '../jobs/run-agent.ts';
import { type HealthCheck, healthRoutes } from '../ops/health.ts';
import { redactLog } from '../ops/log.ts';
import { redactError } from '../redact/redact-error.ts';
import { connectAgent } from './agent.ts';
import { addWebhook } from './api.ts';
import type { Assembly, Role } from './assembly.ts';
import { type BackendConnection, connectBackend } from './backend.ts';
import { openRedactor } from './open-redactor.ts';
import { startWorker } from './worker.ts';

export interface ServiceOptions {
  config: Config;
  role: Role;
  log: Logger;
  version: string;
  env?: NodeJS.ProcessEnv;
  /** The clock by which events are remembered and signatures judged. */
  now?: () => number;
  /** Sees what the agent does while it does it. */
  watch?: (live: LiveEvent) => void;
  /** How long running jobs may go on when the service is told to stop. */
  stopGraceMs?: number;
}

export interface Service {
  url: string;
  /** Answers what is under way, hands running jobs over, then lets go of everything. */
  stop(): Promise<void>;
}

const REQUEST_TIMEOUT_MS = 30_000;
const DRAIN_MS = 5_000;
const STOP_GRACE_MS = 20_000;
/** Longer than a worker's grace period. */
const STOP_PART_MS = 40_000;

export async function startService(options: ServiceOptions): Promise<Service> {
  const { config, role, version, env, now = Date.now, watch = () => undefined } = options;
  const { stopGraceMs = STOP_GRACE_MS } = options;
  const isApi = role !== 'worker';
  const isWorker = role !== 'api';
  const needs = {
    webhook: isApi,
    gitlabRead: isWorker,
    gitlabWrite: isWorker,
    models: isWorker,
    sources: isWorker,
    store: isWorker,
  };
  const secrets = readSecrets(config, needs, env);
  const redactor = openRedactor(secrets, options.log);
  const log = redactLog(options.log, redactor);
  for (const warning of secrets.warnings) log.warn(warning);

  const stops: (() => Promise<unknown>)[] = [];
  const stop = async (): Promise<void> => {
    // One part that can not stop cleanly must not keep the others from it.
    for (const stopPart of stops.splice(0).reverse())
      await withDeadline(STOP_PART_MS, 'stopping', stopPart()).catch((error) =>
        log.error({ err: error }, 'a part did not stop cleanly'),
      );
  };
  try {
    const backend = await connectBackend(secrets.queueUrl, config.queue, { log, redactor });
    stops.push(() => backend.close());
    const app = Fastify({
      loggerInstance: log as FastifyBaseLogger,
      logController: new LogController({ disableRequestLogging: true }),
      requestTimeout: REQUEST_TIMEOUT_MS,
    });
    app.addHook('onSend', async (_request, _reply, page) =>
      typeof page === 'string' ? redactor.text(page) : page,
    );
    const checks: HealthCheck[] = [queueCheck(backend, !isApi)];
    const assembly: Assembly = {
      config,
      role,
      log,
      now,
      secrets,
      redactor,
      backend,
      app,
      checks,
      watch,
      stopGraceMs,
      onStop: (stopPart) => stops.push(stopPart),
    };

    const agent = connectAgent(assembly);
    if (isWorker) await startWorker(assembly, agent);
    if (isApi) await addWebhook(assembly, agent?.account ?? null);
    app.setErrorHandler((error: Error & { statusCode?: number }, request, reply) => {
      const status = error.statusCode ?? 500;
      if (status >= 500) request.log.error({ err: error }, 'request failed');
      return reply.code(status).send({ error: status >= 500 ? 'internal error' : error.message });
    });
    await app.register(healthRoutes(checks, { role, version }));
    stops.push(() => closeServer(app));
    const url = await app.listen({ host: config.server.host, port: config.server.port });
    log.info({ url, role, version }, 'service started');
    return { url, stop };
  } catch (error) {
    await stop();
    throw redactError(error, redactor);
  }
}

/** Answers what is under way; a client that never finishes its request does not keep us from ending. */
async function closeServer(app: FastifyInstance): Promise<void> {
  const closing = app.close();
  await withDeadline(DRAIN_MS, 'open requests', closing).catch(() => app.server.closeAllConnections());
  await closing;
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
