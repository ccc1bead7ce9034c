import type { z } from 'zod';
import type { GitlabClient } from '../../gitlab/client.ts';
import type { SourceTool } from '../source.ts';

/** What the job is about. It comes from the event, never from the model. */
export interface Scope {
  client: GitlabClient;
  projectId: number;
  mrIid: number;
  /** Which other projects the operator lets be read; left out: none. */
  mayRead?: ((project: { id: number; path: string }) => boolean) | undefined;
}

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
