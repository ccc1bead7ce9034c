import type { AnswerFile } from '../agent/messages.ts';
import type { Toolbox, ToolOutcome } from '../agent/toolbox.ts';
import type { Redactor } from '../redact/redactor.ts';
import type { Sandbox } from '../sandbox/sandbox.ts';
import type { Source } from '../sources/source.ts';
import { createFetch } from './fetch.ts';
import { createFetchBatchToSandbox } from './fetch-batch-to-sandbox.ts';
import { createFetchToSandbox } from './fetch-to-sandbox.ts';
import { createGaps } from './gaps.ts';
import { DEFAULT_LIMITS, type ToolLimits } from './limits.ts';
import { toNotes } from './notes.ts';
import { withReadDeadline } from './read-deadline.ts';
import { createSandboxExec } from './sandbox-exec.ts';
import { createSourceCall } from './source-call.ts';
import { createSpill } from './spill.ts';
import type { Tool } from './tool.ts';
import { ToolError, toErrorResult } from './tool-error.ts';

export interface ToolboxOptions {
  sandbox: Sandbox;
  sources: readonly Source[];
  /** For whatever the model or the sandbox gets to see. */
  redactor: Redactor;
  /** Names of the tools to offer, `gitlab_*` for all of a source; all of them unless told. */
  allowed?: readonly string[] | null;
  limits?: Partial<ToolLimits>;
}

/** Everything the model may call, for one job. Throws only the signal's reason, or what broke the sandbox. */
export function createToolbox(options: ToolboxOptions): Toolbox {
  const { sandbox, sources, redactor, allowed, limits: changed } = options;
  const limits = { ...DEFAULT_LIMITS, ...changed };
  const isAllowed = toFilter(allowed ?? ['*']);
  const gaps = createGaps();
  const sourceTools = sources
    .flatMap((source) => source.tools)
    .filter(({ name }) => isAllowed(name))
    .map((tool) => gaps.watch(withReadDeadline(tool, limits)));
  const spill = createSpill(sandbox, limits);
  const fetch = createFetch(sandbox, sourceTools, redactor);
  const offered = [
    createSandboxExec(sandbox, { spill, redactor, limits }),
    createFetchToSandbox(fetch),
    createFetchBatchToSandbox(fetch, limits.maxParallelFetches),
    ...sourceTools.map((tool) =>
      createSourceCall(tool, { spill, redactor, maxInlineBytes: limits.maxInlineBytes }),
    ),
  ].filter(({ definition }) => isAllowed(definition.name));
  const tools = byName(offered);

  return {
    // Those of an MCP server are written by others.
    definitions: [...tools.values()].map(({ definition }) => redactor.value(definition)),
    notes: redactor.text(toNotes(sources)),
    gaps: () => {
      const missing = sources.flatMap((source) => toMissing(source, isAllowed));
      return [...missing, ...gaps.list()].map((gap) => redactor.text(gap));
    },
    isParallel: (name) => tools.get(name)?.runsAlone === false,
    async execute({ name, arguments: args }, options) {
      const { signal } = options;
      signal.throwIfAborted();
      const files: AnswerFile[] = [];
      try {
        const tool = tools.get(name);
        if (!tool) throw toUnknownTool(name, [...tools.values()]);
        const result = await tool.call(args, { ...options, onAnswerFile: (file) => files.push(file) });
        return {
          result: redactor.value(result),
          isError: false,
          ...(tool.isSource && { isSourced: true }),
          ...filesOf(files),
        };
      } catch (error) {
        signal.throwIfAborted();
        return { result: redactor.value(toErrorResult(name, error)), isError: true, ...filesOf(files) };
      }
    },
  };
}

function toMissing({ missing }: Source, isAllowed: (name: string) => boolean): string[] {
  const tools = missing?.tools.filter(isAllowed) ?? [];
  return tools.length === 0 ? [] : [`${tools.join(', ')}: ${missing?.why}`];
}

function filesOf(files: readonly AnswerFile[]): Pick<ToolOutcome, 'files'> {
  return files.length > 0 ? { files } : {};
}

function toFilter(allowed: readonly string[]): (name: string) => boolean {
  return (name) =>
    allowed.some((one) => (one.endsWith('*') ? name.startsWith(one.slice(0, -1)) : name === one));
}

function byName(tools: readonly Tool[]): Map<string, Tool> {
  const named = new Map(tools.map((tool) => [tool.definition.name, tool]));
  if (named.size < tools.length) throw new Error('Two tools have the same name; rename one of them');
  return named;
}

function toUnknownTool(name: string, tools: readonly Tool[]): ToolError {
  return new ToolError(`There is no tool ${name}`, { right_calls: tools.map(({ rightCall }) => rightCall) });
}
