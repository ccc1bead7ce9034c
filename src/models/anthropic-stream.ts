// Puts a streamed message together. The SDK's own helper completes the arguments of a call that was
// cut off or garbled; here they are parsed strictly.
import type Anthropic from '@anthropic-ai/sdk';
import { type Delta, ModelError } from '../agent/model.ts';
import { parseArguments } from './call-arguments.ts';

export interface WholeMessage {
  content: Anthropic.ContentBlock[];
  stopReason: Anthropic.StopReason | null;
  usage: Anthropic.MessageDeltaUsage | Anthropic.Usage;
}

export async function readMessage(
  events: AsyncIterable<Anthropic.RawMessageStreamEvent>,
  onDelta: (delta: Delta) => void,
): Promise<WholeMessage> {
  const message: WholeMessage = { content: [], stopReason: null, usage: NOTHING_USED };
  const inputs = new Map<number, string>();
  let isWhole = false;
  for await (const event of events) {
    switch (event.type) {
      case 'message_start':
        message.usage = event.message.usage;
        break;
      case 'content_block_start':
        message.content[event.index] = { ...event.content_block };
        break;
      case 'content_block_delta':
        addDelta(blockAt(message, event.index), event, inputs);
        report(event.delta, blockAt(message, event.index), onDelta);
        break;
      case 'message_delta':
        message.stopReason = event.delta.stop_reason;
        message.usage = mergeUsage(message.usage, event.usage);
        break;
      case 'message_stop':
        isWhole = true;
    }
  }
  if (!isWhole) throw new ModelError('retry', 'anthropic: the stream ended before the message did');
  for (const [index, json] of inputs) setInput(blockAt(message, index), json, isCutOff(message.stopReason));
  return message;
}

/** By the limit of the answer or by that of the model. */
function isCutOff(reason: Anthropic.StopReason | null): boolean {
  return reason === 'max_tokens' || reason === 'model_context_window_exceeded';
}

const NOTHING_USED = {
  input_tokens: 0,
  output_tokens: 0,
  cache_creation_input_tokens: 0,
  cache_read_input_tokens: 0,
} as Anthropic.Usage;

function blockAt(message: WholeMessage, index: number): Anthropic.ContentBlock {
  const block = message.content[index];
  if (!block)
    throw new ModelError('retry', `anthropic: the stream continued block ${index} without starting it`);
  return block;
}

function addDelta(
  block: Anthropic.ContentBlock,
  { delta, index }: Anthropic.RawContentBlockDeltaEvent,
  inputs: Map<number, string>,
): void {
  if (delta.type === 'text_delta' && block.type === 'text') block.text += delta.text;
  if (delta.type === 'thinking_delta' && block.type === 'thinking') block.thinking += delta.thinking;
  if (delta.type === 'signature_delta' && block.type === 'thinking') block.signature = delta.signature;
  if (delta.type === 'citations_delta' && block.type === 'text')
    block.citations = [...(block.citations ?? []), delta.citation];
  if (delta.type === 'input_json_delta') inputs.set(index, (inputs.get(index) ?? '') + delta.partial_json);
}

function report(
  delta: Anthropic.RawContentBlockDelta,
  block: Anthropic.ContentBlock,
  onDelta: (delta: Delta) => void,
): void {
  if (delta.type === 'input_json_delta' && delta.partial_json && block.type === 'tool_use')
    onDelta({ kind: 'call', name: block.name, text: delta.partial_json });
  if (delta.type === 'text_delta' && delta.text) onDelta({ kind: 'text', text: delta.text });
  if (delta.type === 'thinking_delta' && delta.thinking) onDelta({ kind: 'thinking', text: delta.thinking });
}

/** The counters are totals, and left out when they do not apply. */
function mergeUsage(usage: WholeMessage['usage'], late: Anthropic.MessageDeltaUsage): WholeMessage['usage'] {
  const merged: Record<string, unknown> = { ...usage };
  for (const [name, value] of Object.entries(late)) merged[name] = value ?? merged[name];
  return merged as unknown as WholeMessage['usage'];
}

function setInput(block: Anthropic.ContentBlock, json: string, isCutOff: boolean): void {
  if (block.type !== 'tool_use') return;
  block.input = parseArguments(json, { author: 'anthropic', name: block.name, isCutOff });
}
