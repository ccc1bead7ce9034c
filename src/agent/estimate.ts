import type { Message } from './messages.ts';
import type { ModelRequest } from './model.ts';

/** Models count the same text differently. */
const FOREIGN_FACTOR = 2;

export interface EstimateOptions {
  /** Who will count. */
  model: string;
  /** 1 makes it an upper bound: no token has less than a byte. */
  bytesPerToken: number;
}

/** How large a request is: as a model counted it last, and what has come since by its bytes. */
export function estimateTokens(
  {
    system,
    tools,
    messages,
    transient = '',
  }: Pick<ModelRequest, 'system' | 'tools' | 'messages' | 'transient'>,
  { model, bytesPerToken }: EstimateOptions,
): number {
  const at = messages.findLastIndex((message) => message.role === 'assistant' && message.size !== undefined);
  const last = messages[at];
  const size = last?.role === 'assistant' ? last.size : undefined;
  const uncounted = messages.slice(at + 1).reduce((sum, message) => sum + bytesOf(message), 0);
  const frame = size ? 0 : Buffer.byteLength(system) + Buffer.byteLength(JSON.stringify(tools));
  const known = size ? size.tokens * (size.model === model ? 1 : FOREIGN_FACTOR) : 0;
  return Math.ceil(known + (uncounted + frame + Buffer.byteLength(transient)) / bytesPerToken);
}

/** As JSON, for what providers put around it. */
function bytesOf(message: Message): number {
  return Buffer.byteLength(JSON.stringify(message));
}
