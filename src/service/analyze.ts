// The same analysis for one merge request, without queue and webhook: from a laptop, by hand.
import { randomUUID } from 'node:crypto';
import type { Logger } from 'pino';
import type { AgentEvent } from '../agent/events.ts';
import { NO_FINAL_RESPONSE } from '../agent/prompts.ts';
import { type Config, defaultLimits, projectLimits, readSecrets, type Secrets } from '../config/config.ts';
import type { GitlabClient } from '../gitlab/client.ts';
import type { Findings } from '../jobs/conclude-run.ts';
import { investigate } from '../jobs/investigate.ts';
import { type ModelRun, openLedger } from '../jobs/ledger.ts';
import { type NewAnalysis, postAnalysis } from '../jobs/publish-analysis.ts';
import { toSessionId } from '../jobs/session-id.ts';
import { redactLog } from '../ops/log.ts';
import { createAgentAccount } from '../publish/agent-account.ts';
import { createMarkers } from '../publish/marker.ts';
import { createNotes } from '../publish/notes.ts';
import { makeNoteSafe } from '../publish/safe-note.ts';
import { createMemoryCosts } from '../records/memory-costs.ts';
import { redactError } from '../redact/redact-error.ts';
import type { Redactor } from '../redact/redactor.ts';
import { createAudience } from '../sources/gitlab/audience.ts';
import { createCommitFailures } from '../sources/gitlab/commit-failures.ts';
import { createMergeRequests, type MergeRequest } from '../sources/gitlab/merge-requests.ts';
import { arrangeModel, type ModelArrangement, type ModelWishes } from './arrange-model.ts';
import { openClient } from './assembly.ts';
import { RECORDED_CANARY_KEY, toCanaryKey } from './canary-key.ts';
import { createInvestigator } from './investigator.ts';
import { toLinkHosts } from './link-hosts.ts';
import { lockByHand } from './lock-by-hand.ts';
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
  /** Gets the note, as it is posted or would be; its session may be saved afterwards. */
  show: (note: string) => void;
  /** Hears what a person has to do. */
  tell: (words: string) => void;
  env?: NodeJS.ProcessEnv;
}

export interface Analysis extends Findings {
  sessionId: string;
  mr: MergeRequest;
  isPosted: boolean;
}

const UNSAVED = 'The session could not be saved: asking again may start afresh.';

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
  const { post: isPosted, signal, onEvent, env } = options;
  const { projectPath, iid } = parseMergeRequestUrl(options.url, config.gitlab.url);
  const needs = {
    gitlabRead: true,
    gitlabWrite: isPosted,
    models: needsKeys,
    sources: true,
    store: true,
  } as const;
  const secrets = readSecrets(config, needs, env);
  const redactor = openRedactor(secrets, options.log);
  const log = redactLog(options.log, redactor);
  const reader = openClient(config, secrets.gitlabReadToken, log);
  try {
    const mr = await createMergeRequests(reader).get(projectPath, iid, signal);
    const canaryKey = stillAtMs === undefined ? toCanaryKey(secrets) : RECORDED_CANARY_KEY;
    const surroundings = { config, secrets, redactor, reader, log, now: Date.now, canaryKey };
    const investigator = await createInvestigator({ ...surroundings, model, stillAtMs, arrangeModels });
    const { workflow, store } = investigator;
    const sessionId = toSessionId({
      projectId: mr.projectId,
      mrIid: mr.iid,
      sha: mr.sha,
      workflow: workflow.name,
    });
    const { path, visibility } = await createAudience(reader, config.gitlab).ofProject(mr.projectId, signal);
    const project = { id: mr.projectId, path };
    const runId = `analyze-${randomUUID()}`;
    const { failures } = await createCommitFailures(reader).read(mr, null, signal);
    const asked = { question: null, failures, resumes: false };
    const subject = { sessionId, runId, project, mr, workflow, visibility, ...asked };
    // Nobody shares a laptop's records, so only the limit of the run itself can be kept.
    const { usdPerRun } = projectLimits(config, project) ?? defaultLimits;
    const ledger = { costs: createMemoryCosts(), caps: { usdPerRun }, log, now: Date.now };
    const deps = { ...investigator, openLedger: (run: ModelRun) => openLedger({ ...ledger, run }) };
    const closeStore = (): Promise<void> =>
      store.close().catch((error) => log.warn({ err: error }, 'the transcript was not saved to its end'));
    const present = async (findings: Findings, signal: AbortSignal): Promise<Analysis> => {
      signal.throwIfAborted();
      arrangement.assertComplete();
      const post = async (body: string): Promise<void> => {
        const { gitlabWriteToken } = secrets;
        if (!gitlabWriteToken || !isPosted) return;
        const publication = {
          config,
          secrets: { ...secrets, gitlabWriteToken },
          redactor,
          reader,
          log,
          workflow,
        };
        // An earlier analysis says more than an ending without a word.
        const onlyIfNone = findings.text === NO_FINAL_RESPONSE;
        await publish(publication, { mr, sessionId, onlyIfNone, body }, signal);
      };
      await post(findings.note);
      const safe = { redact: redactor.text, allowMentions: [], linkHosts: toLinkHosts(config) };
      options.show(makeNoteSafe(findings.note, safe));
      const note = await findings.settled;
      if (note !== findings.note) {
        await post(note);
        options.tell(UNSAVED);
      }
      return { ...findings, note, sessionId, mr, isPosted };
    };
    const analyze = async (signal: AbortSignal): Promise<Analysis> => {
      if (options.fresh || arrangement.isFresh) await store.setAside(sessionId, 'old');
      const findings = await investigate(deps, subject, { signal, onEvent });
      // The session may be saved after its note is posted.
      return present(findings, signal).finally(() => findings.settled.catch(() => undefined));
    };
    const { queueUrl } = secrets;
    const lock = { config, queueUrl, sessionId, runId, signal, log, redactor, tell: options.tell };
    const analysing = isPosted ? lockByHand(lock, analyze) : analyze(signal);
    return await analysing.finally(() =>
      Promise.all([investigator.sandboxes.close(), investigator.dataSources.close(), closeStore()]),
    );
  } catch (error) {
    throw redactError(error, redactor);
  } finally {
    await reader.close();
  }
}

async function publish(
  { config, secrets, redactor, reader, log, workflow }: Publication,
  analysis: NewAnalysis,
  signal: AbortSignal,
): Promise<void> {
  const client = openClient(config, secrets.gitlabWriteToken, log);
  try {
    const markers = createMarkers(toMarkerKeys(secrets));
    const notes = createNotes({
      client,
      agent: createAgentAccount(client),
      markers,
      linkHosts: toLinkHosts(config),
      redactor,
    });
    const mergeRequests = createMergeRequests(reader);
    const failures = createCommitFailures(reader);
    const notCurrent = await postAnalysis({ notes, mergeRequests, failures, workflow }, analysis, signal);
    if (notCurrent) log.warn({ reason: notCurrent }, 'the analysis is not current any more');
  } finally {
    await client.close();
  }
}

interface Publication {
  config: Config;
  secrets: Pick<Secrets, 'markerKeys'> & { gitlabWriteToken: string };
  redactor: Redactor;
  reader: GitlabClient;
  log: Logger;
  workflow: { name: string };
}
