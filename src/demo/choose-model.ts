import { loadConfig, readBaseUrl, readSecrets } from '../config/config.ts';
import type { Story } from './story/scene.ts';
import { createScript } from './story/script.ts';
import { createScriptedAnthropic } from './story/scripted-anthropic.ts';

export interface DemoModel {
  description: string;
  /** The `models` section for it. */
  config: Record<string, unknown>;
  env: Record<string, string>;
  close(): Promise<void>;
}

/**
 * A real model if there is a key for one, a scripted one otherwise: behind the same adapter either way.
 * In an empty folder, no configuration of the user's own takes part.
 */
export async function chooseModel(story: Story, emptyFolder: string, stepMs: number): Promise<DemoModel> {
  const { config } = loadConfig({ cwd: emptyFolder, env: {} });
  const keys = readSecrets(config, {}).modelKeys;
  for (const model of config.models.main) {
    const key = model.apiKeyEnv && keys.get(model.apiKeyEnv);
    if (!model.apiKeyEnv || !key || model.provider === 'openai') continue;
    const baseUrl = readBaseUrl(model.provider);
    return {
      description: `${model.provider}/${model.model}${baseUrl ? ` at ${baseUrl}` : ''}, with the key in ${model.apiKeyEnv}`,
      config: { main: [{ ...model, ...(baseUrl && { baseUrl }) }] },
      env: { [model.apiKeyEnv]: key },
      close: async () => undefined,
    };
  }
  const server = await createScriptedAnthropic({ script: () => createScript(story), delayMs: stepMs / 10 });
  const scripted = {
    provider: 'anthropic',
    model: 'scripted',
    baseUrl: server.url,
    apiKeyEnv: 'DEMO_MODEL_KEY',
  };
  return {
    description: 'a scripted one behind the real adapter (no ANTHROPIC_API_KEY or GEMINI_API_KEY is set)',
    config: { main: [scripted], prices: { scripted: { input: 0, output: 0 } } },
    env: { DEMO_MODEL_KEY: 'key-of-the-scripted-model' },
    close: () => server.close(),
  };
}
