import { type Config, findPrice, type Secrets } from '../config/config.ts';
import type { Workflow } from '../config/workflow.ts';
import { PermanentError } from '../errors.ts';
import type { ModelSpec } from '../models/create-model.ts';
import type { PricedModel } from '../models/open-chain.ts';
import type { Redactor } from '../redact/redactor.ts';

export interface ChainOptions {
  config: Config;
  secrets: Pick<Secrets, 'modelKeys' | 'serviceAccounts'>;
  redactor: Pick<Redactor, 'openHolder'>;
}

/** Those of the main chain that have what they need; the one the workflow asks for goes first. */
export function usableModels(
  options: ChainOptions,
  { name, model: wanted }: Pick<Workflow, 'name' | 'model'>,
): PricedModel[] {
  const { config } = options;
  const isWanted = ({ model }: { model: string }): boolean => model === wanted;
  if (wanted !== null && !config.models.main.some(isWanted))
    throw new PermanentError(`workflow ${name} asks for ${wanted}, which is not among models.main`);
  const chain = [...config.models.main].sort((a, b) => Number(isWanted(b)) - Number(isWanted(a)));
  const usable = withKeys(chain, options);
  if (usable.length === 0)
    throw new PermanentError(
      `the key of ${chain.map(({ model }) => model).join(', ')} is not in the environment`,
    );
  return usable;
}

/** Those of a chain that have what they need. */
export function withKeys(chain: readonly ModelConfig[], options: ChainOptions): PricedModel[] {
  return chain.flatMap((one) => {
    const spec = toSpec(one, options);
    if (!spec) return [];
    const price = findPrice(options.config.models, one);
    if (!price) throw new PermanentError(`models.prices: there is no price for ${one.provider}/${one.model}`);
    return [{ ...spec, price }];
  });
}

type ModelConfig = Config['models']['main'][number];

function toSpec(one: ModelConfig, { secrets, redactor }: ChainOptions): ModelSpec | null {
  const { modelKeys, serviceAccounts } = secrets;
  const { provider, model, baseUrl, thinking, maxOutputTokens, apiKeyEnv } = one;
  const spec = { provider, model, baseUrl, thinking, maxOutputTokens };
  const vertex = 'vertex' in one ? one.vertex : undefined;
  if (vertex) {
    const { project, location, credentialsEnv } = vertex;
    const serviceAccount = credentialsEnv === undefined ? undefined : serviceAccounts.get(credentialsEnv);
    // A named account that is not there is not replaced by another one that happens to be.
    if (credentialsEnv !== undefined && !serviceAccount) return null;
    return { ...spec, vertex: { project, location, serviceAccount, learn: redactor.openHolder() } };
  }
  const apiKey = apiKeyEnv === undefined ? '' : modelKeys.get(apiKeyEnv);
  return apiKey === undefined ? null : { ...spec, apiKey };
}
