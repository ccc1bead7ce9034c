// Puts a streamed completion together out of its chunks. What servers add to OpenAI's own format is in no
// type of the SDK: it is checked here, and kept under the name it came with.
import OpenAI from 'openai';
import { type Delta, ModelError } from '../agent/model.ts';

export interface WholeCompletion {
  content: string;
  reasoning: Reasoning;
  calls: WrittenCall[];
  finishReason: string;
  usage: unknown;
}

/** What the model thought, to be sent back as it is: DeepSeek and OpenRouter ask for it. */
export interface Reasoning {
  reasoning_content?: string;
  reasoning?: string;
  reasoning_details?: Detail[];
}

type Detail = Record<string, unknown>;

export interface WrittenCall {
  id?: string | undefined;
  type: 'function';
  function: { name: string; arguments: string };
}

type Choice = OpenAI.ChatCompletionChunk.Choice;

export async function readCompletion(
  chunks: AsyncIterable<OpenAI.ChatCompletionChunk>,
  onDelta: (delta: Delta) => void,
): Promise<WholeCompletion> {
  const whole: WholeCompletion = {
    content: '',
    reasoning: {},
    calls: [],
    finishReason: '',
    usage: undefined,
  };
  const started: StartedCall[] = [];
  let refusal = '';
  for await (const { choices, usage } of chunks) {
    whole.usage = usage ?? whole.usage;
    const choice = choices?.[0];
    if (!choice) continue;
    checkChoice(choice);
    whole.finishReason = choice.finish_reason || whole.finishReason;
    const { content, refusal: no, tool_calls, ...rest } = choice.delta ?? {};
    const thought = addReasoning(whole.reasoning, rest);
    if (thought) onDelta({ kind: 'thinking', text: thought });
    if (content) onDelta({ kind: 'text', text: content });
    whole.content += content ?? '';
    refusal += no ?? '';
    for (const call of tool_calls ?? []) {
      const { name } = addCall(started, call);
      const text = call.function?.arguments;
      if (text) onDelta({ kind: 'call', name, text });
    }
  }
  if (!whole.finishReason) throw new ModelError('retry', 'openai: the stream ended before the answer did');
  if (refusal) throw new ModelError('switch', `openai: the model refused: ${refusal}`);
  if (whole.finishReason === 'content_filter')
    throw new ModelError('switch', 'openai: the answer was withheld by a filter');
  return { ...whole, calls: started.map(({ call }) => call) };
}

/** An `error` beside the choices is thrown by the SDK; OpenRouter may put it into one. */
function checkChoice({ finish_reason, ...rest }: Choice & { error?: object }): void {
  if ((finish_reason as string) !== 'error') return;
  throw new OpenAI.APIError(undefined, rest.error, 'the provider broke the answer off', undefined);
}

/** Returns what is new. A server that says it under both names says the same. */
function addReasoning(reasoning: Reasoning, delta: Record<string, unknown>): string {
  let thought = '';
  for (const name of ['reasoning_content', 'reasoning'] as const) {
    const text = delta[name];
    if (typeof text !== 'string') continue;
    // Kept even if it is empty: DeepSeek refuses a call that comes back without it.
    reasoning[name] = (reasoning[name] ?? '') + text;
    thought ||= text;
  }
  if (Array.isArray(delta.reasoning_details)) {
    reasoning.reasoning_details ??= [];
    for (const detail of delta.reasoning_details.filter(isDetail))
      addDetail(reasoning.reasoning_details, detail);
  }
  return thought;
}

function isDetail(value: unknown): value is Detail {
  return typeof value === 'object' && value !== null;
}

const TEXT_OF: Record<string, string> = { 'reasoning.text': 'text', 'reasoning.summary': 'summary' };

/** OpenRouter sends a block in pieces, its signature last, and refuses to have the pieces back. */
function addDetail(details: Detail[], piece: Detail): void {
  const last = details.at(-1);
  const field = TEXT_OF[String(piece.type)];
  const goesOn = last?.type === piece.type && last?.index === piece.index && !last?.signature;
  if (!last || !field || !goesOn) {
    details.push(piece);
    return;
  }
  const told = Object.entries(piece).filter(([, value]) => value !== null);
  const text = `${last[field] ?? ''}${piece[field] ?? ''}`;
  details[details.length - 1] = { ...last, ...Object.fromEntries(told), [field]: text };
}

interface StartedCall {
  index: number;
  call: WrittenCall;
}

function addCall(
  calls: StartedCall[],
  delta: OpenAI.ChatCompletionChunk.Choice.Delta.ToolCall,
): { name: string } {
  // The rest may hold a signature, which Gemini behind this format wants back.
  const { index, id, type: _type, function: written, ...rest } = delta;
  let started = calls.findLast((one) => one.index === index);
  // Ollama gives all calls the same index, and old vLLM each piece an id of its own, but a name only to the first.
  if (!started || (id && written?.name && id !== started.call.id)) {
    started = { index, call: { id, type: 'function', function: { name: '', arguments: '' } } };
    calls.push(started);
  }
  Object.assign(started.call, rest);
  started.call.function.name ||= written?.name ?? '';
  started.call.function.arguments += written?.arguments ?? '';
  return started.call.function;
}
