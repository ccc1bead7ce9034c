// Notices when the model goes in circles: the same calls, the same results, over and over.
import { type Group, hasCalls, toGroups } from './groups.ts';
import type { Hooks } from './hooks.ts';
import type { Message, ToolCall } from './messages.ts';
import { FINAL_TURN_WARNING } from './prompts.ts';
import { type ToolOutcome, toContent } from './toolbox.ts';

const WENT_IN_CIRCLES = { ending: 'answered', reason: 'it went in circles and was told to answer' } as const;

/** So often a call may bring the same result before it is refused, and so often it may be made in one turn. */
const MAX_SAME = 3;
/** Only what happened in the last turns counts: looking at a file again after a while is no circle. */
const WINDOW_TURNS = 24;
/** For so many turns nothing but what was seen before, some of it lately or more than once: a circle of more calls. */
const MAX_STALE_TURNS = 12;
/** Turns with refusals after which the repeats are taken out of the request, and after which the tools are. */
const DROP_AFTER = 2;
const TOOLS_OFF_AFTER = 4;

/**
 * Step by step: the call is refused with a reason; the repeats are no longer shown to the model, which else goes on
 * imitating them; at last there are no tools. Results that differ are no repeats, so polling is free to go on.
 */
export function createRepeatGuard(): Hooks {
  let executed: { call: string; result: string; turn: number }[] = [];
  let refusedIn: number[] = [];
  let asked: string[] = [];
  /** Of the whole run: calls with what they brought, and how often they were made. */
  const seen = new Map<string, { results: Set<string>; times: number }>();
  let lastNewIn = 0;

  function findReason(key: string, turn: number): string | null {
    if (isRepeat(executed, key))
      return `you have made this call ${MAX_SAME} times lately, each time with the same result. Look at that result, try something else, or write your answer.`;
    if (asked.filter((one) => one === key).length > MAX_SAME)
      return `you have made this call more than ${MAX_SAME} times at once. Look at its result first.`;
    const isKnown = executed.some(({ call }) => call === key) || (seen.get(key)?.times ?? 0) > 1;
    if (isKnown && turn - lastNewIn > MAX_STALE_TURNS)
      return `your last ${MAX_STALE_TURNS} turns have shown nothing that you had not seen before, this call neither. Try something else, or write your answer.`;
    return null;
  }

  return {
    beforeTool(call, run) {
      const key = toKey(call);
      asked.push(key);
      const reason = findReason(key, run.iteration);
      if (reason === null) return undefined;
      if (!refusedIn.includes(run.iteration)) refusedIn.push(run.iteration);
      run.report({ type: 'loop-detected', call, step: toStep(refusedIn.length) });
      return { refuse: reason };
    },
    afterTool(call, outcome, run) {
      const one = { call: toKey(call), result: toResult(outcome), turn: run.iteration };
      executed.push(one);
      const { results, times } = seen.get(one.call) ?? { results: new Set(), times: 0 };
      if (!results.has(one.result)) {
        lastNewIn = run.iteration;
        refusedIn = [];
      }
      seen.set(one.call, { results: results.add(one.result), times: times + 1 });
      return undefined;
    },
    beforeModel(request, run) {
      asked = [];
      const isRecent = (turn: number): boolean => turn >= run.iteration - WINDOW_TURNS;
      executed = executed.filter(({ turn }) => isRecent(turn));
      refusedIn = refusedIn.filter(isRecent);
      if (refusedIn.length < DROP_AFTER) return undefined;
      const messages = dropRepeats(request.messages);
      if (refusedIn.length < TOOLS_OFF_AFTER) return { request: { ...request, messages } };
      const transient = [request.transient, FINAL_TURN_WARNING].filter(Boolean).join('\n\n');
      return { request: { ...request, messages, transient }, last: WENT_IN_CIRCLES };
    },
  };
}

function toStep(refusals: number): 'refused' | 'dropped' | 'tools-off' {
  if (refusals < DROP_AFTER) return 'refused';
  return refusals < TOOLS_OFF_AFTER ? 'dropped' : 'tools-off';
}

/** Its last results were all the same, whatever else was called in between. */
function isRepeat(executed: readonly { call: string; result: string }[], key: string): boolean {
  const results = executed.filter(({ call }) => call === key).slice(-MAX_SAME);
  return results.length === MAX_SAME && results.every(({ result }) => result === results[0]?.result);
}

/** Of turns that are alike in calls and results the first one stays. */
function dropRepeats(messages: readonly Message[]): Message[] {
  const seen = new Set<string>();
  return toGroups(messages)
    .filter((group) => {
      if (!hasCalls(group)) return true;
      const key = toGroupKey(group);
      if (seen.has(key)) return false;
      seen.add(key);
      return true;
    })
    .flat();
}

function toGroupKey(group: Group): string {
  return JSON.stringify(
    group.map((message) => {
      if (message.role === 'assistant') return message.toolCalls.map(toKey);
      return message.role === 'tool' ? toComparable(message.content) : '';
    }),
  );
}

/** A call is asked about before and after it is made. */
const keys = new WeakMap<ToolCall, string>();

function toKey(call: ToolCall): string {
  const known = keys.get(call);
  if (known !== undefined) return known;
  const key = JSON.stringify([call.name, sortKeys(call.arguments)]);
  keys.set(call, key);
  return key;
}

function toResult(outcome: ToolOutcome): string {
  return toComparable(toContent(outcome));
}

/** The same output is spilled to a new file each time, and so is a result that is pruned. */
function toComparable(text: string): string {
  return text.replace(/(\/tmp\/_out\/(?:[\w-]+-)?|\/tmp\/data\/[\w-]+-)\d+\.(?:txt|json)/g, '$1N');
}

function sortKeys(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sortKeys);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value)
      .sort(([a], [b]) => (a < b ? -1 : 1))
      .map(([key, inner]) => [key, sortKeys(inner)]),
  );
}
