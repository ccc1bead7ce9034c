import type { Block, MessagesRequest, RequestMessage } from './anthropic-request.ts';
import type { Script, ScriptedTurn } from './script.ts';

export type Position = {
  run: 'analysis' | 'reply' | 'further';
  /** Turns of this run that were taken before. */
  taken: number;
  turn: ScriptedTurn;
};

/** The request is none that the script could be asked with. */
export class MisfitError extends Error {
  override readonly name = 'MisfitError';
}

/** Which turn is due, by the conversation alone: the same request always gets the same answer. */
export function findPosition(script: Script, request: MessagesRequest): Position {
  const { messages } = request;
  const prompts = messages.flatMap((message, index) => (isPrompt(message) ? [index] : []));
  const start = prompts.at(-1);
  if (prompts[0] !== 0 || start === undefined)
    throw new MisfitError('The first message must be a user text.');
  checkSubject(script, messages[0]);

  const run = prompts.length === 1 ? 'analysis' : prompts.length === 2 ? 'reply' : 'further';
  checkContinuation(request, run);
  const taken = assistantsIn(messages.slice(start));
  const before = assistantsIn(messages.slice(0, start));
  if (run !== 'analysis') checkTurns(script.analysis, before);
  checkTurns(script[run].slice(0, taken.length), taken);
  checkResults(messages);
  const turn = script[run][taken.length];
  if (turn === undefined) throw new MisfitError(`The script of the ${run} ended ${taken.length} turns ago.`);
  checkTools(request, turn);
  return { run, taken: taken.length, turn };
}

/** A text of the other side; one that goes along with tool results is only a remark. */
function isPrompt({ role, blocks }: RequestMessage): boolean {
  return role === 'user' && !blocks.some((block) => block.type === 'tool_result');
}

function assistantsIn(messages: readonly RequestMessage[]): RequestMessage[] {
  return messages.filter((message) => message.role === 'assistant');
}

function checkSubject(script: Script, first: RequestMessage | undefined): void {
  const text = first?.blocks.find((block) => block.type === 'text')?.text ?? '';
  if (parseObject(text).iid === script.iid) return;
  throw new MisfitError(
    `The first message must be JSON with "iid": ${script.iid}, not: ${text.slice(0, 200)}`,
  );
}

/** What is not JSON, or no object, has no fields. */
function parseObject(text: string): Record<string, unknown> {
  try {
    return { ...JSON.parse(text) };
  } catch {
    return {};
  }
}

const CONTINUATION = 'This is a follow-up to a previous conversation';

function checkContinuation({ system }: MessagesRequest, run: Position['run']): void {
  // The prompt is wrapped text: a line end counts as a space.
  const isThere = system.replace(/\s+/g, ' ').includes(CONTINUATION);
  if (isThere === (run !== 'analysis')) return;
  throw new MisfitError(
    isThere
      ? `system: says "${CONTINUATION}", but there is no earlier question or answer.`
      : `system: lacks "${CONTINUATION}", but a person replied.`,
  );
}

/** The conversation so far must be the one that the script had. */
function checkTurns(turns: readonly ScriptedTurn[], messages: readonly RequestMessage[]): void {
  for (const [index, turn] of turns.entries()) {
    const expected = turn.calls.map((call) => call.name).join(', ');
    const actual = callsIn(messages[index]).map((call) => call.name);
    if (messages[index] === undefined) throw new MisfitError(`messages: turn ${index + 1} is missing.`);
    if (actual.join(', ') === expected) continue;
    throw new MisfitError(`messages: turn ${index + 1} called [${actual.join(', ')}], not [${expected}].`);
  }
}

function checkResults(messages: readonly RequestMessage[]): void {
  const last = messages.at(-1);
  if (last?.role !== 'user') throw new MisfitError('messages: the last one must come from the user.');
  const calls = isPrompt(last) ? [] : callsIn(messages.at(-2));
  const results = last.blocks.filter((block) => block.type === 'tool_result');
  const expected = calls
    .map((call) => call.id)
    .toSorted()
    .join(', ');
  const actual = results
    .map((result) => result.toolUseId)
    .toSorted()
    .join(', ');
  if (actual !== expected) {
    throw new MisfitError(
      `messages: the last results are for [${actual}], the last calls were [${expected}].`,
    );
  }
  const failed = results.find((result) => result.isError || hasFailedPart(result.content));
  // The script goes on as if all was well; its note would speak of what nobody saw.
  if (failed) throw new MisfitError(`messages: ${failed.toolUseId} failed: ${failed.content.slice(0, 500)}`);
}

/** A batch is no error as long as one of its parts came through; each says so for itself. */
function hasFailedPart(content: string): boolean {
  const { results } = parseObject(content);
  return (
    Array.isArray(results) && results.some((part) => typeof part === 'object' && 'error' in (part ?? {}))
  );
}

function checkTools({ tools, toolsDisabled }: MessagesRequest, turn: ScriptedTurn): void {
  const missing = turn.calls.map((call) => call.name).filter((name) => !tools.includes(name));
  if (missing.length > 0) throw new MisfitError(`tools: not declared: ${missing.join(', ')}.`);
  if (toolsDisabled && turn.calls.length > 0) {
    throw new MisfitError('tool_choice: is none, but the script needs tools for its next turn.');
  }
}

function callsIn(message: RequestMessage | undefined): Extract<Block, { type: 'tool_use' }>[] {
  return message?.blocks.filter((block) => block.type === 'tool_use') ?? [];
}
