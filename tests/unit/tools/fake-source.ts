import type { z } from 'zod';
import type { Source, SourceAnswer, SourceTool } from '../../../src/sources/source.ts';

export function createFakeSource(name: string, tools: readonly SourceTool[]): Source {
  return { name, notes: `Notes of ${name}.`, tools };
}

export function fakeTool<Args>(
  name: string,
  schema: z.ZodType<Args>,
  read: (args: Args, signal: AbortSignal) => Promise<SourceAnswer>,
): SourceTool {
  // As in the product: a list of tools can not know each one's arguments.
  const tool: SourceTool<Args> = { name, description: `What ${name} is for.`, schema, read };
  return tool as unknown as SourceTool;
}

export const json = async (value: unknown): Promise<SourceAnswer> => ({ kind: 'json', value });

export const text = async (body: Extract<SourceAnswer, { kind: 'text' }>['body']): Promise<SourceAnswer> => ({
  kind: 'text',
  of: 'text',
  body,
});
