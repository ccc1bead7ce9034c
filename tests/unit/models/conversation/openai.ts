// https://platform.openai.com/docs/guides/function-calling, and the words of the API's 400s.
import fc from 'fast-check';
import { fromResponse, toMessages } from '../../../../src/models/openai.ts';
import { callShapes, plainNames, texts } from './arbitraries.ts';
import { type Provider, type Said, toName } from './provider.ts';

interface WireMessage {
  role: string;
  content: string | null;
  tool_calls?: { id: string; type: string; function: { name: string; arguments: string } }[];
  tool_call_id?: string;
}

const ORIGIN = { baseUrl: 'http://127.0.0.1:8000/v1', model: 'qwen3.8-coder' };

export const openai: Provider = {
  author: 'openai',
  toWire: (conversation) => toMessages(conversation, ORIGIN),
  problemsOf: (wire) => problemsOf(wire as WireMessage[]),
  read: (wire) => read(wire as WireMessage[]),
  nativeParts: (native) => [(native as { message: unknown }).message],
  turns: fc
    .record({
      thinks: fc.boolean(),
      text: fc.oneof(fc.constantFrom('', '\n\n'), texts),
      calls: callShapes(plainNames),
      id: fc.constantFrom('', 'call_0', 'functions.run:0'),
    })
    .map(({ thinks, text, calls, id }) => (history) => {
      const reasoning = thinks ? { reasoning_content: `sig-openai-${history.length}` } : {};
      const written = calls.map(({ name, args }) => ({
        id,
        type: 'function' as const,
        function: { name, arguments: JSON.stringify(args, null, 1) },
      }));
      const whole = { content: text, reasoning, calls: written, finishReason: 'stop', usage: undefined };
      return fromResponse(whole, history, ORIGIN).message;
    }),
};

function problemsOf(messages: WireMessage[]): string[] {
  const problems: string[] = [];
  let waiting: string[] = [];
  const [first] = messages.filter(({ role }) => role !== 'system');
  if (first?.role !== 'user') problems.push('the first message is not of the user');
  messages.forEach(({ role, content, tool_calls: calls, tool_call_id: id = '' }, index) => {
    const problem = (what: string) => problems.push(`messages[${index}]: ${what}`);
    if (role === 'tool') {
      if (!waiting.includes(id)) problem(`a tool message for ${id}, which no preceding tool_calls wait for`);
      waiting = waiting.filter((one) => one !== id);
    } else if (waiting.length > 0) problem(`tool_call_ids did not have response messages: ${waiting}`);
    if (role !== 'assistant' && !content) problem('has no content');
    if (role !== 'assistant') return;
    if (calls?.length === 0) problem('tool_calls is an empty list');
    if (!content && !calls) problem('has neither content nor tool_calls');
    waiting = (calls ?? []).map((call) => call.id);
    if (new Set(waiting).size !== waiting.length) problem('two calls have one id');
    for (const call of calls ?? []) {
      if (!/^[a-zA-Z0-9_-]{1,64}$/.test(call.function.name)) problem('a name is not valid');
      const args: unknown = JSON.parse(call.function.arguments);
      if (typeof args !== 'object' || args === null) problem('the arguments are not an object');
    }
  });
  if (waiting.length > 0) problems.push(`tool_call_ids did not have response messages: ${waiting}`);
  if (messages.at(-1)?.role === 'assistant') problems.push('the last message is of the assistant');
  return problems;
}

function read(messages: WireMessage[]): Said[] {
  return messages.flatMap(({ role, content, tool_calls: calls = [] }, index): Said[] => {
    if (role === 'user') return [{ user: content ?? '' }];
    if (role !== 'assistant') return [];
    const turn = {
      text: (content ?? '').trim() === '' ? '' : (content ?? ''),
      calls: calls.map(({ function: call }) => ({
        name: toName(call.name),
        args: JSON.parse(call.arguments),
      })),
    };
    // The API is not told whether a result is an error.
    const results = calls.map(({ id }) => ({
      content: JSON.parse(
        messages.find((one, at) => at > index && one.tool_call_id === id)?.content ?? 'null',
      ),
    }));
    return calls.length > 0 ? [turn, { results }] : [turn];
  });
}
