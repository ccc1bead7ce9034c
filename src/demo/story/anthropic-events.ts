import type { MessagesRequest } from './anthropic-request.ts';
import type { ScriptedTurn } from './script.ts';
import type { Position } from './script-position.ts';

export type StreamEvent = { type: string } & Record<string, unknown>;

/** A turn as Anthropic's API streams it. */
export function* toEvents(request: MessagesRequest, { run, taken, turn }: Position): Generator<StreamEvent> {
  const name = `${run}_${taken + 1}`;
  const usage = estimateUsage(request);
  const message = {
    id: `msg_${name}`,
    type: 'message',
    role: 'assistant',
    model: request.model,
    content: [],
    stop_reason: null,
    stop_sequence: null,
    usage: { ...usage, output_tokens: 1 },
  };
  yield { type: 'message_start', message };
  yield { type: 'ping' };
  for (const [index, block] of toBlocks(turn, name).entries()) {
    yield { type: 'content_block_start', index, content_block: block.start };
    for (const delta of block.deltas) yield { type: 'content_block_delta', index, delta };
    yield { type: 'content_block_stop', index };
  }
  yield {
    type: 'message_delta',
    delta: { stop_reason: turn.calls.length > 0 ? 'tool_use' : 'end_turn', stop_sequence: null },
    usage: { ...usage, output_tokens: toTokens(turn) },
  };
  yield { type: 'message_stop' };
}

function toBlocks(turn: ScriptedTurn, name: string) {
  const text = {
    start: { type: 'text', text: '' },
    deltas: toPieces(turn.text).map((piece) => ({ type: 'text_delta', text: piece })),
  };
  const calls = turn.calls.map((call, index) => ({
    start: { type: 'tool_use', id: `toolu_${name}_${index + 1}`, name: call.name, input: {} },
    deltas: toPieces(JSON.stringify(call.args)).map((piece) => ({
      type: 'input_json_delta',
      partial_json: piece,
    })),
  }));
  return turn.text === '' ? calls : [text, ...calls];
}

const PIECE_LENGTH = 48;

function toPieces(text: string): string[] {
  // By code points: half of a character is none.
  const characters = [...text];
  return Array.from({ length: Math.ceil(characters.length / PIECE_LENGTH) }, (_, index) =>
    characters.slice(index * PIECE_LENGTH, (index + 1) * PIECE_LENGTH).join(''),
  );
}

/** What was there before the model's last turn comes from the cache, the rest goes into it. */
function estimateUsage({ system, tools, messages, usesCache }: MessagesRequest) {
  const total = toTokens([system, tools, messages]);
  const hasTurns = messages.some((message) => message.role === 'assistant');
  const known = hasTurns ? toTokens([system, tools, messages.slice(0, -2)]) : 0;
  if (!usesCache) {
    return { input_tokens: total, cache_creation_input_tokens: 0, cache_read_input_tokens: 0 };
  }
  return {
    input_tokens: 4,
    cache_creation_input_tokens: total - known,
    cache_read_input_tokens: known,
  };
}

/** About four characters make a token. */
function toTokens(value: unknown): number {
  return Math.ceil(JSON.stringify(value).length / 4);
}
