import type { Price } from './default-prices.ts';
import type { Problem } from './problem.ts';
import { variableOf } from './read-model-keys.ts';
import type { Config } from './schema.ts';

type ModelConfig = Config['models']['main'][number];

/** What a model costs where it runs; a snapshot (`…-2025-12-11`, `…@20251101`) without a price of its own costs what its model costs. */
export function findPrice(
  { prices }: Config['models'],
  { provider, model, ...where }: Pick<ModelConfig, 'provider' | 'model'> & Pick<Vertex, 'vertex'>,
): Price | undefined {
  const family = model.replace(/[-@]\d{4}-?\d{2}-?\d{2}$/, '');
  const names = [`${provider}/${model}`, model, `${provider}/${family}`, family];
  const name = names.find((one) => Object.hasOwn(prices, one));
  const price = name === undefined ? undefined : prices[name];
  return price && isRegional(where) ? addTenth(price) : price;
}

/** Every project has limits in USD, and with a model of unknown price they can not be kept. */
export function checkPrices({ models }: Config, read: (name: string) => string | undefined): Problem[] {
  const usable = [...models.main, ...models.side].filter((model) => {
    const variable = variableOf(model);
    return variable === undefined || read(variable) !== undefined;
  });
  const unpriced = usable.filter((model) => findPrice(models, model) === undefined);
  return [...new Set(unpriced.map(({ provider, model }) => `${provider}/${model}`))].map((name) => ({
    path: 'models.prices',
    message: `there is no price for ${name}, so the limits in USD could not be kept`,
    fix:
      `add '${name}': { input: …, output: … } with what its provider asks in USD per million tokens, ` +
      'or { input: 0, output: 0 } for a server of your own',
  }));
}

type Vertex = { vertex?: { location: string } | undefined };

/** Google Cloud asks a tenth more for a model that stays in a region. */
function isRegional({ vertex }: Vertex): boolean {
  return vertex !== undefined && vertex.location !== 'global';
}

function addTenth({ input, output, cacheRead, cacheWrite }: Price): Price {
  const more = (usd: number): number => (usd * 11) / 10;
  return {
    input: more(input),
    output: more(output),
    cacheRead: more(cacheRead),
    cacheWrite: more(cacheWrite),
  };
}
