// Looking for what no webhook told of: by hand, and every now and then in the worker.
import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Logger } from 'pino';
import { type Config, projectLimits, readSecrets } from '../config/config.ts';
import { loadWorkflow } from '../config/workflow.ts';
import { type Reconciled, type ReconcileOptions, reconcile } from '../jobs/reconcile.ts';
import { redactLog } from '../ops/log.ts';
import { type AgentAccount, createAgentAccount } from '../publish/agent-account.ts';
import { createMarkers } from '../publish/marker.ts';
import { createNotes, type Notes } from '../publish/notes.ts';
import { redactError } from '../redact/redact-error.ts';
import type { SessionStore } from '../session/session-store.ts';
import { createCommitFailures } from '../sources/gitlab/commit-failures.ts';
import { createMergeRequests } from '../sources/gitlab/merge-requests.ts';
import { createProjects } from '../sources/gitlab/projects.ts';
import { whyNotAnswered } from '../webhook/routing.ts';
import { openClient } from './assembly.ts';
import { type Backend, openBackend } from './backend.ts';
import { toLinkHosts } from './link-hosts.ts';
import { toMarkerKeys } from './marker-keys.ts';
import { openRedactor } from './open-redactor.ts';
import { openStore } from './sessions.ts';

export interface ReconcilerParts {
  config: Config;
  reader: Parameters<typeof createProjects>[0];
  agent: AgentAccount;
  notes: Notes;
  store: SessionStore;
  workflow: { name: string; on: readonly string[] };
  backend: Pick<Backend, 'queue' | 'records'>;
  log: Logger;
  now: () => number;
}

const FIRST_AFTER_MS = 60_000;
const MAX_LOGGED = 20;

/** Every `everyMs` one of the workers looks. Ends with the signal. */
export async function keepReconciled(parts: ReconcilerParts, signal: AbortSignal): Promise<void> {
  const { config, backend, log, now } = parts;
  const { everyMs, sinceMs } = config.reconcile;
  if (everyMs === 0) return;
  const holder = randomUUID();
  const pause = (ms: number) => sleep(ms, undefined, { signal }).catch(() => undefined);
  await pause(Math.min(everyMs, FIRST_AFTER_MS));
  while (!signal.aborted) {
    try {
      // Not given back: it also tells the others when it was done last.
      const lease = await backend.records.leases.acquire('reconcile', { holder, ttlMs: everyMs * 0.9 });
      const since = new Date(now() - sinceMs);
      if (lease) logReconciled(log, await runReconcile(parts, { since, dryRun: false, signal }));
    } catch (error) {
      if (!signal.aborted) log.warn({ err: error }, 'lost webhooks could not be looked for');
    }
    await pause(everyMs);
  }
}

export async function runReconcile(parts: ReconcilerParts, options: ReconcileOptions): Promise<Reconciled> {
  const { config, reader, agent, backend, now } = parts;
  const { queue, records } = backend;
  const account = await agent.get(options.signal);
  const context = { agent: account, ignoreUsers: config.gitlab.ignoreUsers, isAllowed: () => true };
  return reconcile(
    {
      ...parts,
      mergeRequests: createMergeRequests(reader),
      failures: createCommitFailures(reader),
      projects: createProjects(reader),
      records,
      queue,
      agentName: account.username,
      isIgnored: (user) => whyNotAnswered(user, context) !== null,
      patterns: Object.keys(config.projects),
      isAllowed: (project) => projectLimits(config, project) !== null,
      enqueue: { queue, events: records.events, now, rememberMs: config.webhook.rememberEventsMs },
    },
    options,
  );
}

/** The same from a terminal. */
export async function reconcileByHand(
  { config, log: plainLog, env }: { config: Config; log: Logger; env?: NodeJS.ProcessEnv },
  options: ReconcileOptions,
): Promise<Reconciled> {
  const secrets = readSecrets(config, { gitlabRead: true, gitlabWrite: true, store: true }, env);
  const redactor = openRedactor(secrets, plainLog);
  const log = redactLog(plainLog, redactor);
  const reader = openClient(config, secrets.gitlabReadToken, log);
  const writer = openClient(config, secrets.gitlabWriteToken, log);
  try {
    const backend = await openBackend(secrets.queueUrl, config.queue, { log, redactor });
    const store = openStore(config.store, { secrets, redactor, log });
    try {
      const agent = createAgentAccount(writer);
      const markers = createMarkers(toMarkerKeys(secrets));
      const linkHosts = toLinkHosts(config);
      const notes = createNotes({ client: writer, agent, markers, linkHosts, redactor });
      const workflow = loadWorkflow(config, config.workflows.onFailedPipeline);
      const parts = { config, reader, agent, notes, store, workflow, backend, log, now: Date.now };
      return redactor.value(await runReconcile(parts, options));
    } finally {
      await Promise.all([backend.close(), store.close()]);
    }
  } catch (error) {
    throw redactError(error, redactor);
  } finally {
    await Promise.all([reader.close(), writer.close()]);
  }
}

function logReconciled(log: Logger, { missed, mergeRequests, gaps }: Reconciled): void {
  const queued = missed
    .slice(0, MAX_LOGGED)
    .map(({ job, why }) => `${job.project.path}!${job.mrIid}: ${why}`);
  log.info({ mergeRequests, missed: missed.length, queued }, 'looked for lost webhooks');
  if (gaps.length > 0)
    log.warn({ gaps: gaps.slice(0, MAX_LOGGED) }, 'could not look everywhere for lost webhooks');
}
