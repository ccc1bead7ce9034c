// The sliding pair of cache breakpoints: B2 writes the prefix, B1 reads what B2 wrote one call earlier.
import type Anthropic from '@anthropic-ai/sdk';

export interface WireMessage {
  role: 'user' | 'assistant';
  content: Anthropic.ContentBlockParam[];
}

export interface Breakpoints {
  /** Marks the messages; `isEphemeral` says that the last one ends with words that will not come back. */
  place(messages: WireMessage[], isEphemeral: boolean): Placed;
}

export interface Placed {
  messages: WireMessage[];
  /** To be called when the request was answered: a failed one has written nothing to be read later. */
  keep(): void;
}

export function createBreakpoints(): Breakpoints {
  let previous: number | undefined;
  return {
    place(messages, isEphemeral) {
      const last = messages.length - 1;
      const next = isEphemeral ? last - 1 : last;
      if (next < 0) return { messages, keep: () => undefined };
      // Only words were added since B2 was there: it moves neither back nor onto them.
      const stays = isEphemeral && previous === last;
      const marked = messages.map((message, index) => {
        if (index === previous) return mark(message, stays ? 1 : 0);
        return index === next && !stays ? mark(message, 0) : message;
      });
      return {
        messages: marked,
        keep: () => {
          if (!stays) previous = next;
        },
      };
    },
  };
}

/** Copies what it marks: the blocks are those of the saved conversation. */
function mark(message: WireMessage, skipLast: number): WireMessage {
  const at = message.content.findLastIndex(
    (block, index) => index < message.content.length - skipLast && isMarkable(block),
  );
  return {
    ...message,
    content: message.content.map((block, index) =>
      index === at ? ({ ...block, cache_control: { type: 'ephemeral' } } as typeof block) : block,
    ),
  };
}

/** The API refuses a breakpoint on thinking. */
function isMarkable(block: Anthropic.ContentBlockParam): boolean {
  return block.type !== 'thinking' && block.type !== 'redacted_thinking';
}
