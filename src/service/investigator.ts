import type { Logger } from 'pino';
import type { Config, Secrets } from '../config/config.ts';
import { loadWorkflow, type Workflow } from '../config/workflow.ts';
import { PermanentError } from '../errors.ts';
import type { GitlabClient } from '../gitlab/client.ts';
import type { InvestigationDependencies } from '../jobs/investigate.ts';
import { createModel } from '../models/create-model.ts';
import { withRetry } from '../models/with-retry.ts';
import type { SandboxProvider } from '../sandbox/sandbox.ts';
import { createVirtualSandboxes } from '../sandbox/virtual/provider.ts';
import { openFolderStore } from '../session/folder-store.ts';
import type { SessionStore } from '../session/session-store.ts';
import { createGitlabSource } from '../sources/gitlab/source.ts';
import { createToolbox } from '../tools/toolbox.ts';

export interface InvestigatorOptions {
  config: Config;
  secrets: Pick<Secrets, 'modelKeys'>;
  /** With the READ token. */
  reader: GitlabClient;
  log: Logger;
  now: () => number;
}

/** Everything an investigation needs, as the configuration asks for it; what is not there is an error now. */
export async function createInvestigator(
  options: InvestigatorOptions,
): Promise<InvestigationDependencies & { workflow: Workflow }> {
  const { config, reader, log, now } = options;
  const workflow = loadWorkflow(config, config.workflows.onFailedPipeline);
  return {
    model: openModel(options, workflow),
    store: await openStore(config),
    sandboxes: openSandboxes(config),
    createToolbox: (sandbox, mr) =>
      createToolbox({
        sandbox,
        sources: [createGitlabSource(reader, { projectId: mr.projectId, mrIid: mr.iid })],
        allowed: workflow.tools,
      }),
    workflow,
    log,
    now,
  };
}

function openModel({ config, secrets, log }: InvestigatorOptions, { name, model: wanted }: Workflow) {
  const chain = config.models.main.filter(({ model }) => wanted === null || model === wanted);
  if (chain.length === 0)
    throw new PermanentError(`workflow ${name} asks for ${wanted}, which is not among models.main`);
  // The first of the chain that has a key.
  const usable = chain.find(({ apiKeyEnv }) => apiKeyEnv !== undefined && secrets.modelKeys.has(apiKeyEnv));
  const apiKey = usable?.apiKeyEnv && secrets.modelKeys.get(usable.apiKeyEnv);
  if (!usable || !apiKey)
    throw new PermanentError(
      `the key of ${chain.map(({ model }) => model).join(', ')} is not in the environment`,
    );
  const { provider, model, baseUrl } = usable;
  if (provider === 'openai') throw new PermanentError("models.main: provider 'openai' is not available yet");
  return withRetry(createModel({ provider, model, apiKey, ...(baseUrl !== undefined && { baseUrl }) }), {
    onRetry: ({ error, ...retry }) => log.warn({ ...retry, err: error }, 'model request is repeated'),
  });
}

async function openStore({ store }: Config): Promise<SessionStore> {
  if (store.kind === 'folder') return openFolderStore({ dir: store.dir });
  throw new PermanentError(`store.kind '${store.kind}' is not available yet; use folder`);
}

function openSandboxes({ sandbox }: Config): SandboxProvider {
  if (sandbox.kind === 'virtual') return createVirtualSandboxes({ maxBytes: sandbox.maxBytes });
  throw new PermanentError(`sandbox.kind '${sandbox.kind}' is not available yet; use virtual`);
}
