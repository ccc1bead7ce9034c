// A request to the Messages API as the cache sees it: one list of blocks, tools first, then system, then messages.
import { z } from 'zod';

export interface Block {
  /** What else must be the same for this block to be found again. */
  key: string;
  /** Without the mark, which is no part of what is hashed. */
  json: string;
  /** Calls and results in a row are one place for the look-back. */
  run: 'tool_use' | 'tool_result' | null;
  isMarked: boolean;
}

const MAX_BREAKPOINTS = 4;

/** Throws what the API answers with 400. */
export function toBlocks(body: unknown): Block[] {
  const { model, tools, system, messages, tool_choice, thinking } = requestSchema.parse(body);
  // Changed settings leave tools and system alone. (On some models a changed `thinking` reaches those as well.)
  const settings = JSON.stringify([model, tool_choice, thinking]);
  const blocks = [
    ...tools.map((tool) => toBlock(tool, `${model} tools`)),
    ...toList(system).map((block) => toBlock(block, `${model} system`)),
    ...messages.flatMap(({ role, content }) =>
      toList(content).map((block) => toBlock(block, `${settings} ${role}`)),
    ),
  ];
  const count = blocks.filter(({ isMarked }) => isMarked).length;
  if (count > MAX_BREAKPOINTS)
    throw new Error(`400: ${count} breakpoints, of which there may be ${MAX_BREAKPOINTS}`);
  return blocks;
}

// A record keeps the order of the keys, so that a changed order is a change.
const blockSchema = z.record(z.string(), z.unknown());

const contentSchema = z.union([z.string(), z.array(blockSchema)]);

const requestSchema = z.looseObject({
  model: z.string(),
  tools: z.array(blockSchema).default([]),
  system: contentSchema.default([]),
  messages: z.array(z.object({ role: z.string(), content: contentSchema })),
  tool_choice: z.unknown().optional(),
  thinking: z.unknown().optional(),
  cache_control: z.undefined('marks on the whole request are not simulated').optional(),
});

/** No `ttl`: the life of an hour is not simulated. */
const markSchema = z.strictObject({ type: z.literal('ephemeral') });

type WireBlock = z.infer<typeof blockSchema>;

function toList(content: string | WireBlock[]): WireBlock[] {
  return typeof content === 'string' ? [{ type: 'text', text: content }] : content;
}

function toBlock({ cache_control, ...block }: WireBlock, key: string): Block {
  const { type, text } = block;
  if (cache_control !== undefined) {
    markSchema.parse(cache_control);
    if (type === 'thinking' || type === 'redacted_thinking') throw new Error('400: a breakpoint on thinking');
    if (type === 'text' && text === '') throw new Error('400: a breakpoint on an empty text');
  }
  return {
    key,
    json: JSON.stringify(block),
    run: type === 'tool_use' || type === 'tool_result' ? type : null,
    isMarked: cache_control !== undefined,
  };
}
