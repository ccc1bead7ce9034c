// The port of the tools, as the loop sees them.
import type { AnswerFile, ToolCall } from './messages.ts';
import type { ToolDefinition } from './model.ts';

export interface Toolbox {
  /** In an order that never changes within a session. */
  readonly definitions: readonly ToolDefinition[];
  /** What the model should know of the tools, for the system prompt. */
  readonly notes: string;
  /** What no call could read so far, in words for people. */
  gaps(): string[];
  /** Whether it only reads, and may run at the same time as others that do. */
  isParallel(name: string): boolean;
  /** Never throws for what the model did wrong or a source could not give: that is a result marked as error. */
  execute(call: ToolCall, options: ToolOptions): Promise<ToolOutcome>;
}

export interface ToolOptions {
  signal: AbortSignal;
  /** Hears how far the call has come, in words for people. */
  onProgress?: (text: string) => void;
}

/** As the model is told of it. */
export function toContent({ result }: ToolOutcome): string {
  const known = contents.get(result);
  if (known !== undefined) return known;
  const content = JSON.stringify(result);
  contents.set(result, content);
  return content;
}

/** Results may be large, and more than one looks at them. */
const contents = new WeakMap<ToolOutcome['result'], string>();

export interface ToolOutcome {
  result: Record<string, unknown>;
  isError: boolean;
  /** The result is a data source's own words. */
  isSourced?: boolean;
  /** The files that data sources' answers went to. */
  files?: readonly AnswerFile[];
}
