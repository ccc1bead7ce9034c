import Fastify, { type FastifyInstance } from 'fastify';
import { ApiError } from './api-error.ts';
import { type Arrangement, createArrangement } from './arrangement.ts';
import { createRouter } from './call.ts';
import { breakOnDemand, type Faults } from './faults.ts';
import { createRequestLog, type LoggedRequest } from './request-log.ts';
import { addArtifactRoutes } from './routes/artifacts.ts';
import { addAwardEmojiRoutes } from './routes/award-emoji.ts';
import { addCommitRoutes } from './routes/commits.ts';
import { addDiscussionRoutes } from './routes/discussions.ts';
import { addInstanceRoutes } from './routes/instance.ts';
import { addJobRoutes } from './routes/jobs.ts';
import { addLintRoutes } from './routes/lint.ts';
import { addMergeRequestRoutes } from './routes/merge-requests.ts';
import { addNoteRoutes } from './routes/notes.ts';
import { addPipelineRoutes } from './routes/pipelines.ts';
import { addProjectRoutes } from './routes/projects.ts';
import { addRepositoryRoutes } from './routes/repository.ts';
import { addTreeRoutes } from './routes/tree.ts';
import { createWorld } from './state.ts';
import { deliverWebhooks, type Webhooks } from './webhooks.ts';

export type PretendGitlabOptions = {
  /** Any free one unless told. */
  port?: number;
  now?: () => Date;
  hookTimeoutMs?: number;
  /** Further attempts to deliver after one that failed. */
  hookRetries?: number;
  hookRetryDelayMs?: number;
};

/** A GitLab in memory that answers on 127.0.0.1, calls its hooks and breaks when it is told to. */
export type PretendGitlab = Arrangement &
  Faults &
  Omit<Webhooks, 'stop'> & {
    readonly url: string;
    /** Every request to it so far. */
    readonly requests: readonly LoggedRequest[];
    close(): Promise<void>;
  };

export async function createPretendGitlab(options: PretendGitlabOptions = {}): Promise<PretendGitlab> {
  const world = createWorld({ now: options.now ?? (() => new Date()) });
  const app = createApp();
  const log = createRequestLog(world);
  app.addHook('onRequest', log.arrived);
  const faults = breakOnDemand(app);
  // After the faults, so that an answer which they dropped is not logged as given.
  app.addHook('onSend', log.answered);
  const router = createRouter(app, world);
  for (const addRoutes of ROUTES) addRoutes(router);
  const webhooks = deliverWebhooks(world, {
    timeoutMs: options.hookTimeoutMs ?? 10_000,
    retries: options.hookRetries ?? 1,
    retryDelayMs: options.hookRetryDelayMs ?? 50,
  });
  world.url = await app.listen({ host: '127.0.0.1', port: options.port ?? 0 });
  return {
    ...createArrangement(world),
    ...faults,
    url: world.url,
    requests: log.entries,
    idle: webhooks.idle,
    redeliver: webhooks.redeliver,
    close: async () => {
      await webhooks.stop();
      await app.close();
    },
  };
}

const ROUTES = [
  addInstanceRoutes,
  addProjectRoutes,
  addMergeRequestRoutes,
  addNoteRoutes,
  addDiscussionRoutes,
  addAwardEmojiRoutes,
  addPipelineRoutes,
  addJobRoutes,
  addArtifactRoutes,
  addCommitRoutes,
  addRepositoryRoutes,
  addTreeRoutes,
  addLintRoutes,
];

function createApp(): FastifyInstance {
  const app = Fastify({
    forceCloseConnections: true,
    bodyLimit: 10 * 1024 * 1024,
    // A whole file path is one parameter.
    routerOptions: { maxParamLength: 4096 },
  });
  app.addContentTypeParser(
    'application/json',
    { parseAs: 'string' },
    async (_request: unknown, body: string) => {
      try {
        return body === '' ? {} : JSON.parse(body);
      } catch {
        throw new ApiError(400, { error: 'message body does not match declared format' });
      }
    },
  );
  app.addContentTypeParser(
    'application/x-www-form-urlencoded',
    { parseAs: 'string' },
    async (_request: unknown, body: string) => Object.fromEntries(new URLSearchParams(body)),
  );
  app.setNotFoundHandler((_request, reply) => reply.code(404).send({ error: '404 Not Found' }));
  app.setErrorHandler((error: Error & { statusCode?: number }, _request, reply) => {
    if (error instanceof ApiError) return reply.code(error.status).send(error.body);
    const status = error.statusCode ?? 500;
    if (status < 500) return reply.code(status).send({ error: error.message });
    // Ours, not the client's: the message is the only trace of a mistake in here.
    return reply.code(500).send({ message: '500 Internal Server Error', exception: error.message });
  });
  return app;
}
