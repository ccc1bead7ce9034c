import { bytesOf, takeTail, toGroups, withoutSizes } from './groups.ts';
import type { Message } from './messages.ts';
import type { ModelRequest } from './model.ts';

const MAX_RESULT_CHARS = 1_000;
/** Safe for every tokenizer we know. */
const BYTES_PER_TOKEN = 2;

/** What surely fits: the beginning, what was asked last, and the end, with every result cut. Nothing is saved of it. */
export function shrinkToFit(request: ModelRequest, maxTokens: number): ModelRequest {
  const [head = [], ...rest] = toGroups(withoutSizes(request.messages).map(cutResult));
  const asked = rest.findLast(([first]) => first?.role === 'user') ?? [];
  const frame = Buffer.byteLength(request.system) + Buffer.byteLength(JSON.stringify(request.tools));
  const tail = takeTail(rest, maxTokens * BYTES_PER_TOKEN - frame - bytesOf(head) - bytesOf(asked));
  const isThere = tail.includes(asked);
  return { ...request, messages: [...head, ...(isThere ? [] : asked), ...tail.flat()] };
}

function cutResult(message: Message): Message {
  if (message.role !== 'tool' || message.content.length <= MAX_RESULT_CHARS) return message;
  const half = MAX_RESULT_CHARS / 2;
  const shown = [message.content.slice(0, half), message.content.slice(-half)];
  return { ...message, content: JSON.stringify({ cut: shown.join(' … ') }) };
}
