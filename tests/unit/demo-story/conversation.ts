import Anthropic from '@anthropic-ai/sdk';

export const CONTINUATION =
  '\n\n## Continuation\n\nThis is a follow-up to a previous conversation. The conversation history\ncontains your prior analysis.';

export const TOOLS = [
  'sandbox_exec',
  'fetch_to_sandbox',
  'fetch_batch_to_sandbox',
  'gitlab_get_mr_details',
  'gitlab_get_mr_diff',
  'gitlab_list_pipelines',
  'gitlab_list_jobs',
  'gitlab_list_commit_statuses',
  'konflux_list_pipelineruns',
  'konflux_get_pipelinerun',
];

export type Request = Anthropic.MessageStreamParams;

/** What a program would send first. */
export function firstRequest(iid: number): Request {
  return {
    model: 'claude-demo',
    max_tokens: 4_000,
    system: 'You find out why pipelines fail.',
    tools: TOOLS.map((name) => ({ name, input_schema: { type: 'object' } })),
    cache_control: { type: 'ephemeral' },
    messages: [{ role: 'user', content: JSON.stringify({ project: 'payments/checkout-service', iid }) }],
  };
}

/** The request that follows on an answer, with results for all of its calls. */
export function nextRequest(request: Request, answer: Anthropic.Message): Request {
  const results = answer.content
    .filter((block) => block.type === 'tool_use')
    .map(({ id }) => ({ type: 'tool_result' as const, tool_use_id: id, content: '{"result":"…"}' }));
  const messages = [...request.messages, { role: 'assistant' as const, content: answer.content }];
  return results.length === 0
    ? { ...request, messages }
    : { ...request, messages: [...messages, { role: 'user', content: results }] };
}

/** The request with which a person's question comes. */
export function replyRequest(request: Request, question: string): Request {
  return {
    ...request,
    system: `${request.system}${CONTINUATION}`,
    messages: [...request.messages, { role: 'user', content: question }],
  };
}

export function createAsk(baseURL: string) {
  const client = new Anthropic({ baseURL, apiKey: 'demo', maxRetries: 0 });
  return (request: Request): Promise<Anthropic.Message> => client.messages.stream(request).finalMessage();
}

/** Asks until there are no more calls. */
export async function converse(ask: ReturnType<typeof createAsk>, request: Request) {
  const answers: Anthropic.Message[] = [];
  let next = request;
  do {
    const answer = await ask(next);
    answers.push(answer);
    next = nextRequest(next, answer);
  } while (answers.at(-1)?.stop_reason === 'tool_use');
  return { answers, request: next };
}
