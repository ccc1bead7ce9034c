import { z } from 'zod';
import type { ToolDefinition } from '../agent/model.ts';
import type { ToolOptions } from '../agent/toolbox.ts';
import type { OnAnswerFile } from './answer-files.ts';
import { ToolError } from './tool-error.ts';

/** A tool as the toolbox holds it: what its arguments are, only the tool itself knows. */
export interface Tool {
  readonly definition: ToolDefinition;
  /** `gitlab_get_job_log {"job_id":123}` */
  readonly rightCall: string;
  readonly runsAlone: boolean;
  /** Throws `ToolError` for what the model should hear. */
  call(args: unknown, options: CallOptions): Promise<Record<string, unknown>>;
  /** Its answer is a data source's own words. */
  readonly isSource: boolean;
}

export interface CallOptions extends ToolOptions {
  onAnswerFile: OnAnswerFile;
}

/** The one place where a tool is declared: for the model, for the check and for the types. */
export interface Declaration<Args> {
  name: string;
  description: string;
  schema: z.ZodType<Args>;
  /** Shown after a wrong call; made from the schema unless told. */
  example?: Record<string, unknown>;
  /** It may change what others see, so nothing runs beside it. Left out: it only reads, or writes its own file. */
  runsAlone?: boolean;
  /** Its answer is a data source's own words. Left out: it may be anybody's. */
  isSource?: boolean;
  /** Description and schema are somebody else's. */
  isForeign?: boolean;
}

export function createTool<Args>(
  declaration: Declaration<Args>,
  run: (args: Args, signal: AbortSignal, listeners: Listeners) => Promise<Record<string, unknown>>,
): Tool {
  const { name, description, schema, runsAlone = false, isSource = false, isForeign = false } = declaration;
  return {
    definition: { name, description, inputSchema: toInputSchema(schema), ...(isForeign && { isForeign }) },
    rightCall: toRightCall(declaration),
    runsAlone,
    isSource,
    call: async (args, { signal, onProgress = () => undefined, onAnswerFile }) =>
      run(checkArguments(declaration, args), signal, { onProgress, onAnswerFile }),
  };
}

export interface Listeners {
  onProgress: (text: string) => void;
  onAnswerFile: OnAnswerFile;
}

export function checkArguments<Args>(declaration: Declaration<Args>, args: unknown): Args {
  const checked = declaration.schema.safeParse(args);
  if (checked.success) return checked.data;
  const problems = checked.error.issues.map(({ path, message }) => [...path, message].join(': '));
  throw new ToolError(`${declaration.name} was called with wrong arguments: ${problems.join('; ')}`, {
    right_call: toRightCall(declaration),
  });
}

export function toRightCall({
  name,
  schema,
  example,
}: Pick<Declaration<unknown>, 'name' | 'schema' | 'example'>): string {
  return `${name} ${JSON.stringify(example ?? exampleOf(toInputSchema(schema), name))}`;
}

function toInputSchema(schema: z.ZodType): Record<string, unknown> {
  const { $schema: _, ...inputSchema } = z.toJSONSchema(schema, { io: 'input' });
  return inputSchema;
}

/** Only what is required: the shortest call that is right. */
function exampleOf(schema: z.core.JSONSchema.BaseSchema, name: string): unknown {
  if (schema.enum) return schema.enum[0];
  if (schema.type === 'integer' || schema.type === 'number') return 123;
  if (schema.type === 'boolean') return true;
  if (schema.type === 'array') return [];
  if (schema.type !== 'object') return `<${name}>`;
  const required = Object.entries(schema.properties ?? {}).filter(([key]) => schema.required?.includes(key));
  return Object.fromEntries(
    required.map(([key, inner]) => [key, typeof inner === 'boolean' ? null : exampleOf(inner, key)]),
  );
}
