import type { z } from 'zod';
import type { SourceTool } from './source.ts';

/** Declares a tool whose `read` gets what its schema lets through. */
export function defineTool<Schema extends z.ZodType>(tool: {
  name: string;
  description: string;
  schema: Schema;
  read: SourceTool<z.infer<Schema>>['read'];
}): SourceTool {
  // A list of tools can not know each one's arguments. This is sound, because `read` is only ever given what
  // the same tool's schema has parsed.
  return tool as unknown as SourceTool;
}
