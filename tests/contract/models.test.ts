import type { ModelRequest } from '../../src/agent/model.ts';
import { createScript } from '../../src/demo/story/script.ts';
import { createScriptedAnthropic } from '../../src/demo/story/scripted-anthropic.ts';
import { createAnthropicModel } from '../../src/models/anthropic.ts';
import { createModel } from '../../src/models/create-model.ts';
import { startModel } from '../services/model.ts';
import { TOOLS } from '../unit/demo-story/conversation.ts';
import { createStory } from '../unit/demo-story/story.ts';
import { modelContract } from './model-contract.ts';

for (const provider of ['anthropic', 'gemini', 'openai'] as const)
  modelContract(`${provider} over aimock`, async () => {
    const vendor = await startModel((conversation) =>
      conversation.some(({ role }) => role === 'tool')
        ? { text: 'The lock file is stale.' }
        : {
            text: 'Let me see.',
            calls: [
              { name: 'look', arguments: { at: 1 } },
              { name: 'look', arguments: { at: 2 } },
            ],
          },
    );
    const baseUrl = provider === 'openai' ? `${vendor.url}/v1` : vendor.url;
    return {
      model: createModel({ provider, model: 'any', apiKey: 'key', baseUrl }),
      first: requestOf(7),
      [Symbol.asyncDispose]: vendor.stop,
    };
  });

modelContract("the demo's scripted model behind its adapter", async () => {
  const { gitlab, story } = await createStory();
  await story.failPipeline();
  const server = await createScriptedAnthropic({ script: () => createScript(story) });
  return {
    model: createAnthropicModel({ model: 'scripted', apiKey: 'demo', baseUrl: server.url }),
    first: requestOf(story.mergeRequest.iid),
    async [Symbol.asyncDispose]() {
      await server.close();
      await gitlab.close();
    },
  };
});

function requestOf(iid: number): ModelRequest {
  return {
    system: 'You find out why pipelines fail.',
    messages: [{ role: 'user', content: JSON.stringify({ project: 'payments/checkout-service', iid }) }],
    tools: [...TOOLS, 'look'].map((name) => ({ name, description: name, inputSchema: { type: 'object' } })),
    toolsDisabled: false,
    maxOutputTokens: 1_000,
    signal: new AbortController().signal,
  };
}
