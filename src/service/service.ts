// Composition root: config → adapters → API and/or worker → graceful stop.
import Fastify, { type FastifyBaseLogger, LogController } from 'fastify';
import type { Logger } from 'pino';
import { type Config, readSecrets } from '../config/config.ts';
import { type HealthCheck, healthRoutes } from '../ops/health.ts';
import { connectAgent } from './agent.ts';
import { addWebhook } from './api.ts';
import type { Assembly, Role } from './assembly.ts';
import { type BackendConnection, connectBackend } from './backend.ts';
import { startWorker } from './worker.ts';

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

const REQUEST_TIMEOUT_MS = 30_000;

export async function startService(options: ServiceOptions): Promise<Service> {
  const { config, role, log, version, env, now = Date.now } = options;
  const isApi = role !== 'worker';
  const isWorker = role !== 'api';
  const secrets = readSecrets(config, { webhook: isApi, gitlabRead: isWorker, gitlabWrite: isWorker }, env);
  for (const warning of secrets.warnings) log.warn(warning);

  const stops: (() => Promise<unknown>)[] = [];
  const stop = async (): Promise<void> => {
    // One part that can not stop cleanly must not keep the others from it.
    for (const stopPart of stops.splice(0).reverse())
      await stopPart().catch((error) => log.error({ err: error }, 'a part did not stop cleanly'));
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
    const assembly: Assembly = {
      config,
      role,
      log,
      now,
      secrets,
      backend,
      app,
      checks,
      onStop: (stopPart) => stops.push(stopPart),
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
