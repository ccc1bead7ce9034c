import type { Logger } from 'pino';
import type { Ledger } from '../agent/ledger.ts';
import type { Config, Secrets } from '../config/config.ts';
import { loadWorkflow, type Workflow } from '../config/workflow.ts';
import { PermanentError } from '../errors.ts';
import type { GitlabClient } from '../gitlab/client.ts';
import { createCanaryGuard } from '../jobs/canary.ts';
import { createEvidenceCheck } from '../jobs/check-evidence.ts';
import type { InvestigationDependencies } from '../jobs/investigate.ts';
import { openChain } from '../models/open-chain.ts';
import { withRedaction } from '../models/with-redaction.ts';
import type { Redactor } from '../redact/redactor.ts';
import type { OpenedStore } from '../session/create-store.ts';
import { DEFAULT_LIMITS, type ToolLimits } from '../tools/limits.ts';
import { createToolbox } from '../tools/toolbox.ts';
import { type DataSources, type DataSourcesOptions, openDataSources } from './data-sources.ts';
import { openSandboxes } from './sandboxes.ts';
import { openSessions } from './sessions.ts';
import { type ChainOptions, usableModels, withKeys } from './usable-models.ts';

export interface InvestigatorOptions extends ChainOptions {
  secrets: ChainOptions['secrets'] &
    DataSourcesOptions['secrets'] &
    Pick<Secrets, 's3Credentials' | 'environment'>;
  redactor: Redactor;
  /** With the READ token. */
  reader: GitlabClient;
  log: Logger;
  now: () => number;
  canaryKey: Buffer;
  /** Of models.main, instead of what the workflow asks for. */
  model?: string | undefined;
  /** Takes the place of the configured models, or something around them. */
  arrangeModels?: (openConfigured: () => OpenModels, redactor: Redactor) => OpenModels;
  /** What time it always is in the sandbox; the real one unless told. */
  stillAtMs?: number | undefined;
}

export type OpenModels = Pick<
  InvestigationDependencies,
  'openModel' | 'openSideModel' | 'openShortReplyModel'
>;

/** All but the money, which depends on who else spends it. */
export type Investigator = Omit<InvestigationDependencies, 'openLedger'> & {
  workflow: Workflow;
  dataSources: DataSources;
  store: OpenedStore;
};

/** What an investigation needs, as the configuration asks for it; what is not there is an error now. */
export async function createInvestigator(options: InvestigatorOptions): Promise<Investigator> {
  const { config, secrets, redactor, log, now } = options;
  const { arrangeModels = (openConfigured) => openConfigured() } = options;
  const workflow = loadWorkflow(config, config.workflows.onFailedPipeline);
  if (!workflow.on.includes('pipeline_failed'))
    throw new PermanentError(
      `workflow ${workflow.name} is not for failed pipelines: add pipeline_failed to its 'on', or name another one under workflows.onFailedPipeline`,
    );
  const models = redacted(
    arrangeModels(() => openConfigured(options, workflow), redactor),
    redactor,
  );
  const { store, spool } = await openSessions(config, { secrets, redactor, log });
  const dataSources = await openDataSources(options);
  const sandboxes = await openSandboxes(options).catch(async (error) => {
    // Processes of its servers would keep ours from ending.
    await dataSources.close();
    throw error;
  });
  return {
    ...models,
    store,
    spool,
    redactor,
    sandboxes,
    keepBytes: config.sandbox.keepBytes,
    dataSources,
    createToolbox: (sandbox, mr, project) =>
      createToolbox({
        sandbox,
        sources: dataSources.createFor(mr, project),
        redactor,
        allowed: workflow.tools,
        limits: toToolLimits(config),
      }),
    canaryKey: options.canaryKey,
    guards: { createCanaryGuard, createEvidenceCheck },
    createFindOwnJobs: dataSources.createFindOwnJobs,
    workflow,
    log,
    now,
  };
}

function openConfigured(options: InvestigatorOptions, { name, model }: Workflow): OpenModels {
  const chain = usableModels(options, { name, model: options.model ?? model });
  const sideChain = withKeys(options.config.models.side, options);
  return {
    openModel: (ledger) => openChain(chain, ledger),
    ...(options.config.models.shortReplies === 'side' && {
      openShortReplyModel: (ledger: Ledger) => openChain([...sideChain, ...chain], ledger),
    }),
    // Without a model of their own, side calls go to the main chain.
    openSideModel: (ledger) => openChain(sideChain.length > 0 ? sideChain : chain, ledger),
  };
}

/** What they say is free of secrets, whoever they are. */
export function redacted(
  { openModel, openSideModel, openShortReplyModel }: OpenModels,
  redactor: Redactor,
): OpenModels {
  return {
    openModel: (ledger) => withRedaction(openModel(ledger), redactor),
    openSideModel(ledger) {
      const side = openSideModel(ledger);
      return side && withRedaction(side, redactor);
    },
    ...(openShortReplyModel && {
      openShortReplyModel: (ledger: Ledger) => withRedaction(openShortReplyModel(ledger), redactor),
    }),
  };
}

/** A command may ask for as much time as the sandbox gives. */
function toToolLimits({ sandbox }: Config): Partial<ToolLimits> {
  if (sandbox.kind === 'virtual') return {};
  const { commandTimeoutMs: maxCommandTimeoutMs } = sandbox;
  return {
    maxCommandTimeoutMs,
    commandTimeoutMs: Math.min(DEFAULT_LIMITS.commandTimeoutMs, maxCommandTimeoutMs),
  };
}
