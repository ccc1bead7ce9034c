// https://ai.google.dev/gemini-api/docs/function-calling and …/thought-signatures, and the words of the API's 400s.
import type { FinishReason, Part } from '@google/genai';
import fc from 'fast-check';
import { fromResponse, toMessages } from '../../../../src/models/gemini.ts';
import { callShapes, oddNames, texts } from './arbitraries.ts';
import { type Provider, type Said, type SaidResult, toName } from './provider.ts';

interface WireContent {
  role: string;
  parts: WirePart[];
}

interface WirePart {
  text?: string;
  thought?: boolean;
  thoughtSignature?: string;
  functionCall?: { id?: string; name: string; args: unknown };
  functionResponse?: { id?: string; name: string; response: { output?: unknown; error?: unknown } };
}

export const gemini: Provider = {
  author: 'gemini',
  toWire: toMessages,
  problemsOf: (wire) => problemsOf(wire as WireContent[]),
  read: (wire) => (wire as WireContent[]).flatMap(read),
  nativeParts: (native) => (native as WireContent).parts,
  turns: fc
    .record({
      thinks: fc.boolean(),
      texts: fc.array(texts, { maxLength: 1 }),
      calls: callShapes(oddNames),
      hasIds: fc.boolean(),
      isSigned: fc.boolean(),
    })
    .map((shape) => (history) => {
      const thoughtSignature = `sig-gemini-${history.length}`;
      const parts: Part[] = [
        ...(shape.thinks ? [{ text: 'Hm.', thought: true }] : []),
        ...shape.texts.map((text) => ({ text })),
        ...shape.calls.map((call, index) => ({
          functionCall: { ...(shape.hasIds && { id: `fc.${history.length}.${index}` }), ...call },
          // Of parallel calls only the first one has a signature.
          ...(index === 0 && { thoughtSignature }),
        })),
        ...(shape.isSigned ? [{ text: '', thoughtSignature }] : []),
      ];
      return fromResponse({ parts, finishReason: 'STOP' as FinishReason, usage: {} }, history).message;
    }),
};

function problemsOf(contents: WireContent[]): string[] {
  const problems: string[] = [];
  if (contents[0]?.role !== 'user') problems.push('the first content is not of the user');
  if (contents.at(-1)?.role !== 'user') problems.push('requests ending with a model turn are not supported');
  contents.forEach(({ role, parts }, index) => {
    const problem = (what: string) => problems.push(`contents[${index}]: ${what}`);
    const before = contents[index - 1];
    const asked = callsOf(before);
    const results = resultsOf({ role, parts });
    const isResults = results.length > 0;
    if (parts.length === 0) problem('has no parts');
    if (role !== 'user' && role !== 'model') problem(`the role ${role} is not valid`);
    const isWordsAfterResults = role === 'user' && !isResults && resultsOf(before).length > 0;
    if (role === before?.role && !isWordsAfterResults) problem('roles do not alternate');
    if (isResults && results.length !== parts.length) problem('results are mixed with other parts');
    if (results.length !== asked.length) problem(`${asked.length} calls, but ${results.length} results`);
    results.forEach(({ id, name }, at) => {
      if (name !== asked[at]?.name || id !== asked[at]?.id) problem(`result ${at} is of another call`);
    });
    const [first] = parts.filter(({ functionCall }) => functionCall);
    if (first && !first.thoughtSignature) problem('the first call has no thought signature');
    for (const part of parts) {
      const { text, functionCall, functionResponse, thoughtSignature } = part;
      const data = [text, functionCall, functionResponse].filter((one) => one !== undefined);
      if (data.length !== 1) problem('a part has not exactly one data field');
      if (text === '' && !thoughtSignature) problem('a text is empty');
      if (functionCall && role === 'user') problem('a call of the user');
      if (functionResponse && role === 'model') problem('a result of the model');
      if (functionCall && !/^[a-zA-Z0-9_.:-]{1,64}$/.test(functionCall.name)) problem('a name is not valid');
    }
  });
  return problems;
}

function read({ role, parts }: WireContent): Said[] {
  if (role === 'model') {
    const text = parts.map((part) => (part.thought ? '' : (part.text ?? ''))).join('');
    const calls = callsOf({ role, parts }).map(({ name, args }) => ({ name: toName(name), args }));
    return [{ text, calls }];
  }
  const results = resultsOf({ role, parts }).map(({ response }) => toResult(response));
  return [
    ...(results.length > 0 ? [{ results }] : []),
    ...parts.flatMap(({ text }) => (text === undefined ? [] : [{ user: text }])),
  ];
}

function toResult(response: { output?: unknown; error?: unknown }): SaidResult {
  return 'error' in response
    ? { content: response.error, isError: true }
    : { content: response.output, isError: false };
}

function callsOf(content: WireContent | undefined) {
  return (content?.parts ?? []).flatMap(({ functionCall }) => functionCall ?? []);
}

function resultsOf(content: WireContent | undefined) {
  return (content?.parts ?? []).flatMap(({ functionResponse }) => functionResponse ?? []);
}
