// Random conversations, as a run of the agent leaves them, and random damage to them.
import fc from 'fast-check';
import { isEmpty } from '../../../../src/agent/history.ts';
import type { AssistantMessage, Message, ToolMessage } from '../../../../src/agent/messages.ts';
import { callShapes, objects, oddNames, texts } from './arbitraries.ts';
import type { MakeTurn } from './provider.ts';
import { providers } from './providers.ts';

/** Whose native form nobody knows; its ids are no good for others, and come again in later turns. */
const strangers: fc.Arbitrary<MakeTurn> = fc
  .record({ content: fc.oneof(fc.constant(''), texts), calls: callShapes(oddNames) })
  .map(({ content, calls }) => () => ({
    role: 'assistant',
    content,
    toolCalls: calls.map(({ name, args }, index) => ({
      id: ['a.b', 'a/b', ''][index] ?? `${index}`,
      name,
      arguments: args,
    })),
    native: { author: 'stranger', content: { secret: 'sig-stranger' } },
  }));

type Step =
  | { kind: 'ask'; text: string }
  | { kind: 'turn'; make: MakeTurn; results: [Record<string, unknown>, boolean][]; shift: number };

const results = fc.array(fc.tuple(objects, fc.boolean()), { minLength: 3, maxLength: 3 });
const steps: fc.Arbitrary<Step> = fc.oneof(
  fc.record({ kind: fc.constant('ask' as const), text: texts }),
  fc.record({
    kind: fc.constant('turn' as const),
    make: fc.oneof(...providers.map(({ turns }) => turns), strangers),
    results,
    shift: fc.nat(2),
  }),
);

/** Begins with a question and has a result for every call; the turns are of all providers, mixed. */
export const histories: fc.Arbitrary<Message[]> = fc
  .tuple(texts, fc.array(steps, { maxLength: 8 }))
  .map(([event, all]) => all.reduce(addStep, [{ role: 'user', content: event }]));

function addStep(history: Message[], step: Step): Message[] {
  if (step.kind === 'ask') return [...history, { role: 'user', content: step.text }];
  const turn = step.make(history);
  // Of an empty turn nothing is saved.
  return isEmpty(turn) ? history : [...history, turn, ...answersOf(turn, step)];
}

/** In any order: tools may end when they like. */
function answersOf({ toolCalls }: AssistantMessage, step: Step & { kind: 'turn' }): ToolMessage[] {
  const answers = toolCalls.map(({ id, name }, index): ToolMessage => {
    const [content = {}, isError = false] = step.results[index] ?? [];
    return { role: 'tool', toolCallId: id, name, content: JSON.stringify(content), isError };
  });
  return [...answers.slice(step.shift), ...answers.slice(0, step.shift)];
}

export type Damage = (messages: Message[]) => Message[];

const at = fc.nat(30);
export const damages: fc.Arbitrary<Damage> = fc
  .array(
    fc.oneof(
      fc.record({ kind: fc.constantFrom('drop', 'repeat', 'cut', 'blank', 'same-ids'), from: at, to: at }),
      fc.record({ kind: fc.constant('move'), from: at, to: at }),
    ),
    { minLength: 1, maxLength: 4 },
  )
  .map((all) => (messages) => all.reduce((rest, one) => damage(rest, one), messages));

function damage(
  messages: Message[],
  { kind, from, to }: { kind: string; from: number; to: number },
): Message[] {
  const index = from % Math.max(1, messages.length);
  const other = to % Math.max(1, messages.length);
  const one = messages[index];
  if (!one) return messages;
  switch (kind) {
    case 'drop':
      return messages.toSpliced(index, 1);
    case 'repeat':
      return messages.toSpliced(other, 0, one);
    case 'move':
      return messages.toSpliced(index, 1).toSpliced(other, 0, one);
    case 'cut':
      return messages.slice(0, index);
    case 'blank':
      return messages.with(index, { ...one, content: ' ' });
    default:
      return messages.with(index, withSameIds(one));
  }
}

function withSameIds(message: Message): Message {
  if (message.role !== 'assistant') return message;
  return { ...message, toolCalls: message.toolCalls.map((call) => ({ ...call, id: 'same' })) };
}
