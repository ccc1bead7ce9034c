// A request to Anthropic's Messages API, as far as the script needs to understand it.

export type MessagesRequest = {
  model: string;
  stream: boolean;
  system: string;
  tools: readonly string[];
  toolsDisabled: boolean;
  /** Neighbours of the same role are one, as for the real API. */
  messages: readonly RequestMessage[];
  usesCache: boolean;
};

export type RequestMessage = { role: string; blocks: readonly Block[] };

export type Block =
  | { type: 'text'; text: string }
  | { type: 'tool_use'; id: string; name: string }
  | { type: 'tool_result'; toolUseId: string; isError: boolean; content: string }
  | { type: 'other' };

/** Throws a message for the caller when the body is not a request. */
export function fromBody(body: unknown): MessagesRequest {
  if (!isRecord(body) || typeof body.model !== 'string' || !Array.isArray(body.messages)) {
    throw new Error('model: and messages: are required.');
  }
  return {
    model: body.model,
    stream: body.stream === true,
    system: toTexts(body.system),
    tools: toList(body.tools).flatMap((tool) => (isRecord(tool) ? [String(tool.name)] : [])),
    toolsDisabled: isRecord(body.tool_choice) && body.tool_choice.type === 'none',
    messages: mergeNeighbours(body.messages.map(toMessage)),
    // Quotation marks inside of texts are escaped, so this finds the annotation alone.
    usesCache: JSON.stringify(body).includes('"cache_control":{"type":"ephemeral"'),
  };
}

function toMessage(message: unknown): RequestMessage {
  if (!isRecord(message)) throw new Error('messages: each must be an object.');
  const { content } = message;
  const blocks: Block[] =
    typeof content === 'string' ? [{ type: 'text', text: content }] : toList(content).map(toBlock);
  return { role: String(message.role), blocks };
}

function toBlock(block: unknown): Block {
  if (!isRecord(block)) throw new Error('messages: each content block must be an object.');
  switch (block.type) {
    case 'text':
      return { type: 'text', text: String(block.text) };
    case 'tool_use':
      return { type: 'tool_use', id: String(block.id), name: String(block.name) };
    case 'tool_result':
      return {
        type: 'tool_result',
        toolUseId: String(block.tool_use_id),
        isError: block.is_error === true,
        content: toTexts(block.content),
      };
    default:
      return { type: 'other' };
  }
}

function mergeNeighbours(messages: readonly RequestMessage[]): RequestMessage[] {
  const merged: RequestMessage[] = [];
  for (const message of messages) {
    const last = merged.at(-1);
    if (last?.role !== message.role) merged.push(message);
    else merged[merged.length - 1] = { role: last.role, blocks: [...last.blocks, ...message.blocks] };
  }
  return merged;
}

/** A text, or the texts of a list of blocks. */
function toTexts(content: unknown): string {
  if (typeof content === 'string') return content;
  return toList(content)
    .map((block) => (isRecord(block) && typeof block.text === 'string' ? block.text : ''))
    .join('\n');
}

function toList(value: unknown): unknown[] {
  return Array.isArray(value) ? value : [];
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null;
}
