// Tools about a project rather than the merge request: where the operator allows it, also about another project.
import { z } from 'zod';
import { PermanentError } from '../../errors.ts';
import type { SourceAnswer, SourceTool } from '../source.ts';
import { defineTool, type Scope } from './scope.ts';
import { fromWire } from './wire.ts';

/** Declares a tool whose `read` gets the scope of the project that was asked for, the pinned one unless told. */
export function defineProjectTool<Schema extends z.ZodObject>(
  pinned: Scope,
  tool: {
    name: string;
    description: string;
    schema: Schema;
    read(args: z.infer<Schema>, scope: ProjectScope, signal: AbortSignal): Promise<SourceAnswer>;
  },
): SourceTool {
  // Without permission for any other project there is no such argument at all.
  if (!pinned.mayRead)
    return defineTool({ ...tool, read: (args, signal) => tool.read(args, toOwn(pinned), signal) });
  return defineTool({
    ...tool,
    schema: tool.schema.safeExtend({ project }),
    async read(args, signal) {
      // What is left is what the tool's own schema has parsed.
      const { project: wanted, ...own } = args as z.infer<Schema> & { project?: z.infer<typeof project> };
      return tool.read(own as z.infer<Schema>, await enterProject(pinned, wanted, signal), signal);
    },
  });
}

export interface ProjectScope extends Scope {
  /** False: the merge request is in another project. */
  isOwn: boolean;
}

async function enterProject(
  pinned: Scope,
  wanted: string | number | undefined,
  signal: AbortSignal,
): Promise<ProjectScope> {
  if (wanted === undefined || wanted === pinned.projectId) return toOwn(pinned);
  const answer = await pinned.client.withSignal(signal).api.Projects.show(wanted);
  // By what GitLab says it is: a name can lead to a project that was moved.
  const { id, path_with_namespace: path } = fromWire(wireProject, `project ${wanted}`, answer);
  if (id === pinned.projectId) return toOwn(pinned);
  if (pinned.mayRead?.({ id, path })) return { ...pinned, projectId: id, isOwn: false };
  throw new PermanentError(
    `Project ${wanted} may not be read here: only those that the operator lists under gitlab.readProjects`,
  );
}

function toOwn(pinned: Scope): ProjectScope {
  return { ...pinned, isOwn: true };
}

const project = z
  .union([z.int().min(1), z.string().regex(/^\w[\w.-]*(?:\/\w[\w.-]*)+$/)])
  .optional()
  .describe("Id or path of another project than the merge request's, if it is one that may be read");

const wireProject = z.object({ id: z.number(), path_with_namespace: z.string() });
