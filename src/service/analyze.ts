// The same analysis for one merge request, without queue and webhook: from a laptop, by hand.
import { randomUUID } from 'node:crypto';
import type { Logger } from 'pino';
import type { AgentEvent } from '../agent/events.ts';
import { NO_FINAL_RESPONSE } from '../agent/prompts.ts';
import { type Config, defaultLimits, projectLimits, readSecrets, type Secrets } from '../config/config.ts';
import { type Findings, investigate } from '../jobs/investigate.ts';
import { type ModelRun, openLedger } from '../jobs/ledger.ts';
import { toSessionId } from '../jobs/session-id.ts';
import { redactLog } from '../ops/log.ts';
import { createAgentAccount } from '../publish/agent-account.ts';
import { createMarkers } from '../publish/marker.ts';
import { createNotes } from '../publish/notes.ts';
import { createMemoryCosts } from '../records/memory-costs.ts';
import { redactError } from '../redact/redact-error.ts';
import type { Redactor } from '../redact/redactor.ts';
import { createMergeRequests, type MergeRequest } from '../sources/gitlab/merge-requests.ts';
import { arrangeModel, type ModelArrangement, type ModelWishes } from './arrange-model.ts';
import { openClient } from './assembly.ts';
import { createInvestigator } from './investigator.ts';
import { toMarkerKeys } from './marker-keys.ts';
import { parseMergeRequestUrl } from './merge-request-url.ts';
import { openRedactor } from './open-redactor.ts';

export interface AnalyzeOptions extends ModelWishes {
  config: Config;
  /** Of the merge request. */
  url: string;
  /** Post the note; otherwise nothing is written anywhere but to the session. */
  post: boolean;
  /** Ask again what was answered before; the earlier session is set aside. */
  fresh?: boolean | undefined;
  log: Logger;
  signal: AbortSignal;
  onEvent: (event: AgentEvent) => void;
  /** Hears what a person has to do. */
  tell: (words: string) => void;
  env?: NodeJS.ProcessEnv;
}

export interface Analysis extends Findings {
  sessionId: string;
  mr: MergeRequest;
  isPosted: boolean;
}

export async function analyzeMergeRequest(options: AnalyzeOptions): Promise<Analysis> {
  const arrangement = await arrangeModel(options.config, options, options.tell);
  try {
    return await analyzeAs(arrangement, options);
  } finally {
    await arrangement.close();
  }
}

async function analyzeAs(arrangement: ModelArrangement, options: AnalyzeOptions): Promise<Analysis> {
  const { config, model, stillAtMs, needsKeys, arrangeModels } = arrangement;
  const { post, signal, onEvent, env } = options;
  const { projectPath, iid } = parseMergeRequestUrl(options.url, config.gitlab.url);
  const needs = { gitlabRead: true, gitlabWrite: post, models: needsKeys, sources: true } as const;
  const secrets = readSecrets(config, needs, env);
  const redactor = openRedactor(secrets, options.log);
  const log = redactLog(options.log, redactor);
  const reader = openClient(config, secrets.gitlabReadToken, log);
  try {
    const mr = await createMergeRequests(reader).get(projectPath, iid, signal);
    const surroundings = { config, secrets, redactor, reader, log, now: Date.now };
    const investigator = await createInvestigator({ ...surroundings, model, stillAtMs, arrangeModels });
    const { workflow, store } = investigator;
    const sessionId = toSessionId({
      projectId: mr.projectId,
      mrIid: mr.iid,
      sha: mr.sha,
      workflow: workflow.name,
    });
    const project = { id: mr.projectId, path: projectPath };
    const runId = `analyze-${randomUUID()}`;
    const subject = { sessionId, runId, project, mr, workflow, question: null, resumes: false };
    if (options.fresh || arrangement.isFresh) await store.setAside(sessionId, 'old');
    // Nobody shares a laptop's records, so only the limit of the run itself can be kept.
    const { usdPerRun } = projectLimits(config, project) ?? defaultLimits;
    const ledger = { costs: createMemoryCosts(), caps: { usdPerRun }, log, now: Date.now };
    const deps = { ...investigator, openLedger: (run: ModelRun) => openLedger({ ...ledger, run }) };
    const running = investigate(deps, subject, { signal, onEvent });
    const findings = await running.finally(() =>
      Promise.all([investigator.sandboxes.close(), investigator.dataSources.close()]),
    );
    signal.throwIfAborted();
    arrangement.assertComplete();
    if (secrets.gitlabWriteToken && post)
      await publish(config, { ...secrets, gitlabWriteToken: secrets.gitlabWriteToken }, log, {
        redactor,
        mr,
        sessionId,
        body: findings.note,
        // An earlier analysis says more than an ending without a word.
        onlyIfNone: findings.text === NO_FINAL_RESPONSE,
        signal,
      });
    return { ...findings, sessionId, mr, isPosted: post };
  } catch (error) {
    throw redactError(error, redactor);
  } finally {
    await reader.close();
  }
}

async function publish(
  config: Config,
  secrets: Pick<Secrets, 'markerKeys'> & { gitlabWriteToken: string },
  log: Logger,
  {
    redactor,
    ...note
  }: {
    redactor: Redactor;
    mr: MergeRequest;
    sessionId: string;
    body: string;
    onlyIfNone: boolean;
    signal: AbortSignal;
  },
): Promise<void> {
  const client = openClient(config, secrets.gitlabWriteToken, log);
  try {
    const agent = createAgentAccount(client);
    const markers = createMarkers(toMarkerKeys(secrets));
    await createNotes({ client, agent, markers, redactor }).ensureAnalysis(note);
  } finally {
    await client.close();
  }
}
