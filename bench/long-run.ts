import { runLoop } from '../src/agent/loop.ts';
import { composeSystemPrompt } from '../src/agent/prompts.ts';
import { loadConfig } from '../src/config/config.ts';
import { loadWorkflow } from '../src/config/workflow.ts';
import { createGitlabClient } from '../src/gitlab/client.ts';
import { createAnthropicModel } from '../src/models/anthropic.ts';
import { createVirtualSandboxes } from '../src/sandbox/virtual/provider.ts';
import { createGitlabSource } from '../src/sources/gitlab/source.ts';
import { type ScriptedAnswer, startModel } from '../tests/services/model.ts';
import type { Sent } from '../tests/services/model-wire.ts';
import { createToolbox } from '../tests/services/redactor.ts';
import type { Recorded } from './anthropic-cache.ts';

export interface LongRun {
  /** The model answers in this one; a run whose `maxIterations` are fewer or as many is made to answer. */
  turns: number;
  maxIterations: number;
}

/** What a model and its tools take for a turn, in the cache's time. */
const TURN_MS = 20_000;

/** A run through the product's own loop, prompts, tools and adapter, as it went over the wire. */
export async function recordLongRun({ turns, maxIterations }: LongRun): Promise<(Sent & Recorded)[]> {
  await using cleanup = new AsyncDisposableStack();
  const vendor = await startModel((conversation) => {
    const turn = 1 + conversation.filter(({ role }) => role === 'assistant').length;
    return turn < turns ? toCalls(turn) : { text: 'The build ran out of memory.' };
  });
  cleanup.defer(vendor.stop);
  const sandbox = await createVirtualSandboxes({ maxBytes: 64 * 1024 * 1024 }).create();
  cleanup.defer(sandbox.close);
  // Only declares its tools: the script calls none of them.
  const gitlab = createGitlabClient({
    url: 'http://127.0.0.1:9',
    token: 'none',
    timeoutMs: 1,
    maxRequestsPerMinute: 1,
  });
  cleanup.defer(gitlab.close);
  const { config } = loadConfig({ cwd: import.meta.dirname, env: {} });
  const workflow = loadWorkflow(config, config.workflows.onFailedPipeline);
  const toolbox = createToolbox({
    sandbox,
    sources: [createGitlabSource(gitlab, { projectId: 1, mrIid: 42, sha: 'a'.repeat(40) })],
    allowed: workflow.tools,
  });

  const loop = runLoop({
    model: createAnthropicModel({ model: 'claude-sonnet-5-5', apiKey: 'none', baseUrl: vendor.url }),
    toolbox,
    system: composeSystemPrompt({
      toolNotes: toolbox.notes,
      workflow: workflow.prompt,
      isContinuation: false,
      mark: 'bench',
    }),
    messages: [{ role: 'user', content: '{"project":"group/app","iid":42,"sha":"abc","session_id":"1"}' }],
    maxIterations,
    // The mock counts tokens in its own way; only the turns are to be the limit here.
    contextLimit: Number.POSITIVE_INFINITY,
    maxOutputTokens: workflow.maxOutputTokens,
    checkpoint: async () => undefined,
    signal: new AbortController().signal,
  });
  for await (const event of loop)
    if (event.type === 'ended' && event.ending !== 'answered' && event.ending !== 'iterations')
      throw new Error(`the run ended otherwise than by its script: ${event.reason}`);
  return vendor.sent.map((sent, index) => ({ ...sent, atMs: index * TURN_MS }));
}

/** One to three commands, now and then with a word before; their outputs are of 0.4 to 6 KB. */
function toCalls(turn: number): ScriptedAnswer {
  const calls = Array.from({ length: 1 + (turn % 3) }, (_, index) => ({
    name: 'sandbox_exec',
    arguments: { command: `seq 1 ${20 + ((turn * 7 + index) % 13) * 20} | sed 's/^/job ${turn}, line /'` },
  }));
  return turn % 4 === 0 ? { text: `Looking at job ${turn}.`, calls } : { calls };
}
