import { setTimeout as sleep } from 'node:timers/promises';
import type { Logger } from 'pino';
import { defaultLimits, projectLimits } from '../config/config.ts';
import { openLedger } from '../jobs/ledger.ts';
import { createRunJob } from '../jobs/run-job.ts';
import { createMarkers } from '../publish/marker.ts';
import { createNotes } from '../publish/notes.ts';
import { createReactions } from '../publish/reactions.ts';
import type { JobContext, JobHandler, JobOutcome, JobQueue, JobWorker } from '../queue/queue.ts';
import { createAudience } from '../sources/gitlab/audience.ts';
import { createCommitFailures } from '../sources/gitlab/commit-failures.ts';
import { createMergeRequests } from '../sources/gitlab/merge-requests.ts';
import type { ConnectedAgent } from './agent.ts';
import { type Assembly, createClient } from './assembly.ts';
import { toCanaryKey } from './canary-key.ts';
import { createInvestigator } from './investigator.ts';
import { toLinkHosts } from './link-hosts.ts';
import { toMarkerKeys } from './marker-keys.ts';
import { keepReconciled } from './reconciler.ts';
import { redactFailures } from './redact-failures.ts';
import { startUpkeep } from './session-upkeep.ts';

const RETRY_MS = 2_000;

export async function startWorker(assembly: Assembly, agent: ConnectedAgent | null): Promise<void> {
  const { config, secrets, redactor, backend, checks, log, now, role, watch, stopGraceMs, onStop } = assembly;
  if (!secrets.gitlabReadToken || !secrets.gitlabWriteToken || !agent)
    throw new Error('a worker needs both GitLab tokens');
  const reader = createClient(assembly, secrets.gitlabReadToken);
  checks.push({
    name: 'gitlab',
    required: role === 'worker',
    check: () => reader.ping().then(() => undefined),
  });

  const investigator = await createInvestigator({
    config,
    secrets,
    redactor,
    reader,
    log,
    now,
    canaryKey: toCanaryKey(secrets),
  });
  onStop(() => investigator.dataSources.close());
  onStop(() => investigator.sandboxes.close());
  checks.push({
    name: 'sandbox',
    required: role === 'worker',
    check: () => investigator.sandboxes.check().then(() => undefined),
  });
  const { store, spool } = investigator;
  onStop(() => store.close());
  checks.push({ name: 'store', required: role === 'worker', check: () => store.check() });
  const markers = createMarkers(toMarkerKeys(secrets));
  const stopping = new AbortController();
  let reconciling: Promise<void> | undefined;
  const linkHosts = toLinkHosts(config);
  const notes = createNotes({
    client: agent.client,
    agent: agent.account,
    markers,
    linkHosts,
    redactor,
  });
  const working = backend.whenConnected(({ queue, records }) => {
    const { workflow } = investigator;
    const parts = { config, reader, agent: agent.account, notes, store, workflow, log, now };
    reconciling = keepReconciled({ ...parts, backend: { queue, records } }, stopping.signal);
    const { retentionDays } = config.store;
    const upkeep = startUpkeep({ store, spool: spool ?? null, retentionDays, records, log, now });
    onStop(() => upkeep.stop());
    const runJob = createRunJob({
      ...investigator,
      openLedger: (run) => {
        const caps = projectLimits(config, run.project) ?? defaultLimits;
        return openLedger({ costs: records.costs, run, caps, log, now });
      },
      mergeRequests: createMergeRequests(reader),
      audience: createAudience(reader, config.gitlab),
      isAllowed: (project) => projectLimits(config, project) !== null,
      quotesMembersOnlyLogs: config.gitlab.membersOnlyLogs === 'quote',
      failures: createCommitFailures(reader),
      reactions: createReactions(agent.client, agent.account),
      notes,
      agent: agent.account,
      records,
      queue,
      resolveThreads: config.gitlab.resolveThreads,
      watch,
    });
    return work(assembly, redactFailures(runJob, redactor), queue, stopping.signal);
  });
  working.catch((error) => log.fatal({ err: error }, 'worker could not start'));
  onStop(async () => {
    stopping.abort();
    backend.abandon();
    const worker = await working.catch(() => null);
    await reconciling;
    await worker?.stop(stopGraceMs);
  });
}

/** Begins to work, as soon as the queue lets us. */
async function work(
  { config, log }: Assembly,
  runJob: JobHandler,
  queue: JobQueue,
  stopping: AbortSignal,
): Promise<JobWorker | null> {
  while (!stopping.aborted) {
    try {
      const worker = await queue.work(runJob, {
        concurrency: config.queue.concurrency,
        maxConcurrent: (job) => projectLimits(config, job.project)?.maxConcurrent ?? 1,
        onError: (error) => log.warn({ err: error }, 'worker error'),
        onEnd: (context, outcome) => logOutcome(log, context, outcome),
      });
      log.info({ concurrency: config.queue.concurrency }, 'worker started');
      return worker;
    } catch (error) {
      log.error({ err: error }, 'worker could not start, trying again');
      await sleep(RETRY_MS, undefined, { signal: stopping }).catch(() => undefined);
    }
  }
  return null;
}

function logOutcome(log: Logger, { id, job, attempt }: JobContext, outcome: JobOutcome): void {
  const fields = { job: id, kind: job.kind, attempt, outcome: outcome.kind };
  if (outcome.kind === 'failed')
    log.error({ ...fields, err: outcome.error, willRetry: outcome.willRetry }, 'job failed');
  else log.debug(fields, 'job left the worker');
}
