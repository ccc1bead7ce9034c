import Anthropic from '@anthropic-ai/sdk';
import { describe, expect, test } from 'vitest';
import { QUESTION } from '../../../src/demo/story/scene.ts';
import { createScript } from '../../../src/demo/story/script.ts';
import { createScriptedAnthropic } from '../../../src/demo/story/scripted-anthropic.ts';
import {
  converse,
  createAsk,
  firstRequest,
  nextRequest,
  type Request,
  replyRequest,
} from './conversation.ts';
import { createStory } from './story.ts';

test('the whole analysis and the reply are played over the official SDK', async () => {
  await using stage = await createStage();
  const { script, ask } = stage;

  const analysis = await converse(ask, stage.first);
  const reply = await converse(ask, replyRequest(analysis.request, QUESTION));

  expect(analysis.answers.map(toTurn)).toEqual(script.analysis);
  expect(reply.answers.map(toTurn)).toEqual(script.reply);
  expect(analysis.answers.at(-1)?.stop_reason).toBe('end_turn');
});

test('the same request gets the same answer', async () => {
  await using stage = await createStage();
  const second = nextRequest(stage.first, await stage.ask(stage.first));

  expect(await stage.ask(second)).toEqual(await stage.ask(second));
});

test('more and more of the conversation comes from the cache', async () => {
  await using stage = await createStage();

  const { answers } = await converse(stage.ask, stage.first);

  const read = answers.map(({ usage }) => usage.cache_read_input_tokens ?? 0);
  expect(read[0]).toBe(0);
  expect(read).toEqual(read.toSorted((a, b) => a - b));
  expect(new Set(read).size).toBe(read.length);
  expect(answers.every(({ usage }) => usage.output_tokens > 1)).toBe(true);
});

test('without a mark for the cache all input is paid for', async () => {
  await using stage = await createStage();
  const { cache_control: _, ...plain } = stage.first;

  const { usage } = await stage.ask(plain);

  expect(usage).toMatchObject({ cache_read_input_tokens: 0, cache_creation_input_tokens: 0 });
  expect(usage.input_tokens).toBeGreaterThan(50);
});

test('a remark that comes with tool results does not change the turn', async () => {
  await using stage = await createStage();
  const answer = await stage.ask(stage.first);
  const second = nextRequest(stage.first, answer);
  const remarked: Request = {
    ...second,
    messages: [...second.messages, { role: 'user', content: 'You are running out of turns.' }],
  };

  expect(toTurn(await stage.ask(remarked))).toEqual(stage.script.analysis[1]);
});

test('a question after the script is answered with what to do', async () => {
  await using stage = await createStage();
  const analysis = await converse(stage.ask, stage.first);
  const reply = await converse(stage.ask, replyRequest(analysis.request, QUESTION));

  const third = {
    ...reply.request,
    messages: [...reply.request.messages, { role: 'user' as const, content: 'And?' }],
  };

  expect(toTurn(await stage.ask(third)).text).toContain('ANTHROPIC_API_KEY');
});

describe('a request that does not fit is refused', () => {
  test('because a tool is not declared', async () => {
    await using stage = await createStage();
    await expectRefusal(stage.ask({ ...stage.first, tools: [] }), 'not declared: gitlab_get_mr_details');
  });

  test('because tools are disabled', async () => {
    await using stage = await createStage();
    await expectRefusal(stage.ask({ ...stage.first, tool_choice: { type: 'none' } }), 'tool_choice');
  });

  test('because it is about another merge request', async () => {
    await using stage = await createStage();
    await expectRefusal(stage.ask(firstRequest(99)), 'The first message must be JSON');
  });

  test('because a result is missing', async () => {
    await using stage = await createStage();
    const second = nextRequest(stage.first, await stage.ask(stage.first));
    await expectRefusal(stage.ask(changeResults(second, (results) => results.slice(1))), 'the last results');
  });

  test('because a tool failed', async () => {
    await using stage = await createStage();
    const second = nextRequest(stage.first, await stage.ask(stage.first));
    const fail = (results: Results) =>
      results.map((result) => ({ ...result, is_error: true, content: 'no such project' }));
    await expectRefusal(stage.ask(changeResults(second, fail)), 'no such project');
  });

  test('because a part of a batch failed', async () => {
    await using stage = await createStage();
    const second = nextRequest(stage.first, await stage.ask(stage.first));
    const parts = JSON.stringify({ results: [{ saved_to: '/tmp/data/a.log' }, { error: 'job 7 is gone' }] });
    const fail = (results: Results) => results.map((result) => ({ ...result, content: parts }));
    await expectRefusal(stage.ask(changeResults(second, fail)), 'job 7 is gone');
  });

  test('because a reply comes without the continuation prompt', async () => {
    await using stage = await createStage();
    const { request } = await converse(stage.ask, stage.first);
    const reply = { ...replyRequest(request, QUESTION), system: 'You find out why pipelines fail.' };
    await expectRefusal(stage.ask(reply), 'system: lacks');
  });

  test('because a reply comes without the history', async () => {
    await using stage = await createStage();
    const answered = { role: 'assistant' as const, content: 'It is the rounding.' };
    const short = { ...stage.first, messages: [...stage.first.messages, answered] };
    await expectRefusal(stage.ask(replyRequest(short, QUESTION)), 'turn 1 called []');
  });

  test('because it asks for no stream', async () => {
    await using stage = await createStage();
    const client = new Anthropic({ baseURL: stage.url, apiKey: 'demo', maxRetries: 0 });
    const { model, max_tokens, messages } = stage.first;
    await expectRefusal(client.messages.create({ model, max_tokens, messages }), 'stream');
  });

  test('because it is no request at all, or has no key', async () => {
    await using stage = await createStage();
    const post = async (headers: Record<string, string>) => {
      const all = { 'content-type': 'application/json', ...headers };
      const response = await fetch(`${stage.url}/v1/messages`, { method: 'POST', headers: all, body: '{}' });
      return { status: response.status, body: await response.json() };
    };
    expect(await post({ authorization: 'Bearer demo' })).toMatchObject({
      status: 400,
      body: { type: 'error', error: { type: 'invalid_request_error' } },
    });
    expect(await post({})).toMatchObject({ status: 401, body: { error: { type: 'authentication_error' } } });
  });
});

async function createStage() {
  const scene = await createStory();
  await scene.story.failPipeline();
  const script = createScript(scene.story);
  const server = await createScriptedAnthropic({ script: () => script });
  return {
    script,
    url: server.url,
    ask: createAsk(server.url),
    first: firstRequest(scene.story.mergeRequest.iid),
    [Symbol.asyncDispose]: async () => {
      await server.close();
      await scene.gitlab.close();
    },
  };
}

type Results = Anthropic.ToolResultBlockParam[];

/** The request with other results of its last calls. */
function changeResults(request: Request, change: (results: Results) => Results): Request {
  const last = request.messages.at(-1)?.content;
  if (!Array.isArray(last)) throw new Error('The last message has no results.');
  const content = change(last.flatMap((block) => (block.type === 'tool_result' ? [block] : [])));
  return { ...request, messages: [...request.messages.slice(0, -1), { role: 'user', content }] };
}

function toTurn({ content }: Anthropic.Message) {
  return {
    text: content.map((block) => (block.type === 'text' ? block.text : '')).join(''),
    calls: content.flatMap((block) =>
      block.type === 'tool_use' ? [{ name: block.name, args: block.input }] : [],
    ),
  };
}

async function expectRefusal(answer: Promise<unknown>, message: string): Promise<void> {
  const error = await answer.then(
    () => undefined,
    (reason: unknown) => reason,
  );
  expect(error).toBeInstanceOf(Anthropic.BadRequestError);
  expect(String(error)).toContain(message);
}
