// https://platform.claude.com/docs/en/agents-and-tools/tool-use/handle-tool-calls, and the words of the API's 400s.
import type Anthropic from '@anthropic-ai/sdk';
import fc from 'fast-check';
import { fromResponse, toMessages } from '../../../../src/models/anthropic.ts';
import { type CallShape, callShapes, plainNames, texts } from './arbitraries.ts';
import { type Provider, type Said, toName } from './provider.ts';

interface WireMessage {
  role: string;
  content: Block[];
}

type Block =
  | { type: 'text'; text: string }
  | { type: 'thinking'; signature: string }
  | { type: 'redacted_thinking'; data: string }
  | { type: 'tool_use'; id: string; name: string; input: unknown }
  | { type: 'tool_result'; tool_use_id: string; content: string; is_error: boolean };

export const anthropic: Provider = {
  author: 'anthropic',
  toWire: toMessages,
  problemsOf: (wire) => problemsOf(wire as WireMessage[]),
  read: (wire) => (wire as WireMessage[]).flatMap((message, index, all) => read(message, all[index - 1])),
  nativeParts: (native) => native as unknown[],
  turns: fc
    .record({
      thinks: fc.boolean(),
      redacted: fc.boolean(),
      texts: fc.array(texts, { maxLength: 2 }),
      calls: callShapes(plainNames),
    })
    .map((shape) => (history) => {
      const content = [
        ...(shape.thinks
          ? [{ type: 'thinking', thinking: 'Hm.', signature: `sig-anthropic-${history.length}` }]
          : []),
        ...(shape.redacted ? [{ type: 'redacted_thinking', data: `sig-anthropic-${history.length}` }] : []),
        ...shape.texts.map((text) => ({ type: 'text', text, citations: null })),
        ...shape.calls.map((call, index) => toToolUse(call, `toolu_${history.length}_${index}`)),
      ] as Anthropic.ContentBlock[];
      const usage = { input_tokens: 1, output_tokens: 1 } as Anthropic.Usage;
      return fromResponse({ content, stopReason: 'end_turn', usage }).message;
    }),
};

function toToolUse({ name, args }: CallShape, id: string) {
  return { type: 'tool_use', id, caller: { type: 'direct' }, name, input: args };
}

function problemsOf(messages: WireMessage[]): string[] {
  const problems: string[] = [];
  const ids = new Set<string>();
  if (messages[0]?.role !== 'user') problems.push('the first message is not of the user');
  if (messages.at(-1)?.role !== 'user') problems.push('the last message is not of the user');
  messages.forEach(({ role, content }, index) => {
    const problem = (what: string) => problems.push(`messages.${index}: ${what}`);
    if (role === messages[index - 1]?.role) problem('roles do not alternate');
    if (content.length === 0) problem('is empty');
    const results = content.filter((block) => block.type === 'tool_result').map((block) => block.tool_use_id);
    const asked = usesOf(messages[index - 1]).map(({ id }) => id);
    if (results.toSorted().join() !== asked.toSorted().join())
      problem(`tool_use ${asked} is followed by tool_result ${results}`);
    if (content.slice(0, results.length).some(({ type }) => type !== 'tool_result'))
      problem('does not begin with its tool_results');
    for (const block of content) {
      const isOfUser = block.type === 'tool_result' || (block.type === 'text' && role === 'user');
      if (isOfUser !== (role === 'user')) problem(`a ${block.type} of the ${role}`);
      if (block.type === 'text' && block.text.trim() === '') problem('a text block is blank');
      if (block.type === 'thinking' && !block.signature) problem('thinking without a signature');
      if (block.type !== 'tool_use') continue;
      if (!/^[a-zA-Z0-9_-]+$/.test(block.id)) problem(`the id ${block.id} has other letters`);
      if (ids.has(block.id)) problem(`tool_use ids must be unique: ${block.id}`);
      ids.add(block.id);
      if (!/^[a-zA-Z0-9_-]{1,128}$/.test(block.name)) problem(`the name ${block.name} has other letters`);
      if (typeof block.input !== 'object' || block.input === null) problem('the input is not an object');
    }
  });
  return problems;
}

function read({ role, content }: WireMessage, before: WireMessage | undefined): Said[] {
  if (role === 'assistant') {
    const text = content.map((block) => (block.type === 'text' ? block.text : '')).join('');
    return [
      {
        text,
        calls: usesOf({ role, content }).map(({ name, input }) => ({ name: toName(name), args: input })),
      },
    ];
  }
  const asked = usesOf(before).map(({ id }) => id);
  const results = content
    .filter((block) => block.type === 'tool_result')
    .toSorted((a, b) => asked.indexOf(a.tool_use_id) - asked.indexOf(b.tool_use_id))
    .map((block) => ({ content: JSON.parse(block.content), isError: block.is_error }));
  return [
    ...(results.length > 0 ? [{ results }] : []),
    ...content.flatMap((block) => (block.type === 'text' ? [{ user: block.text }] : [])),
  ];
}

function usesOf(message: WireMessage | undefined) {
  return (message?.content ?? []).filter((block) => block.type === 'tool_use');
}
