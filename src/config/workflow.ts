import { readFileSync } from 'node:fs';
import { isAbsolute, join, posix } from 'node:path';
import { parse } from 'yaml';
import { z } from 'zod';
import { PermanentError } from '../errors.ts';
import type { Config } from './schema.ts';

/** What the agent is asked to do: the text for the model, and how far it may go. */
export interface Workflow {
  name: string;
  /** What starts it: a failed pipeline, somebody who calls the agent by name where it has not written yet. */
  on: ('pipeline_failed' | 'mention')[];
  /** One of the configured main models; null for the first that can be used. */
  model: string | null;
  /** Names of the tools it may use, `gitlab_*` for all of a source; null for all there are. */
  tools: string[] | null;
  maxIterations: number;
  /** Tokens the conversation may have before the model must answer. */
  contextLimit: number;
  maxOutputTokens: number;
  /** After this it must answer. */
  maxMinutes: number;
  /** Share of the context limit at which older turns are summed up; 0 for never. */
  compactAt: number;
  /** What an answer must stand before it is published: nothing, cheap checks, or also a model that judges it. */
  gate: 'off' | 'checks' | 'judge';
  /** Folders of the sandbox that are kept with the session, beside the usual ones. */
  keep: string[];
  prompt: string;
}

const frontMatter = z.strictObject({
  on: z.array(z.enum(['pipeline_failed', 'mention'])).min(1),
  model: z.string().min(1).optional(),
  tools: z
    .array(z.string().regex(/^[a-z_]+\*?$/))
    .min(1)
    .optional(),
  max_iterations: z.int().min(1).max(500).default(50),
  context_limit: z.int().min(1_000).default(150_000),
  max_output_tokens: z.int().min(256).default(16_000),
  max_minutes: z.number().positive().max(1_440).default(60),
  compact_at: z.number().min(0).max(0.95).default(0.75),
  gate: z.enum(['off', 'checks', 'judge']).default('checks'),
  keep: z.array(z.string().refine(isBelowTmp, 'must be a folder below /tmp, as in /tmp/report')).default([]),
});

const INSTALLATION = join(import.meta.dirname, '../..');

/** Reads `<dir>/<name>.md`: YAML front matter between two lines of dashes, then the prompt. */
export function loadWorkflow({ workflows }: Pick<Config, 'workflows'>, name: string): Workflow {
  const dir = isAbsolute(workflows.dir) ? workflows.dir : join(INSTALLATION, workflows.dir);
  const file = join(dir, `${name}.md`);
  const [, head, prompt] = /^---\r?\n([\s\S]*?)\r?\n---\r?\n([\s\S]*)$/.exec(readText(file)) ?? [];
  if (head === undefined || !prompt?.trim())
    throw new PermanentError(
      `${file} must begin with front matter between two lines '---' and go on with the prompt`,
    );
  const parsed = frontMatter.safeParse(parse(head));
  if (!parsed.success) throw new PermanentError(`${file}: ${z.prettifyError(parsed.error)}`);
  return {
    name,
    on: parsed.data.on,
    model: parsed.data.model ?? null,
    tools: parsed.data.tools ?? null,
    maxIterations: parsed.data.max_iterations,
    contextLimit: parsed.data.context_limit,
    maxOutputTokens: parsed.data.max_output_tokens,
    maxMinutes: parsed.data.max_minutes,
    compactAt: parsed.data.compact_at,
    gate: parsed.data.gate,
    keep: parsed.data.keep,
    prompt: prompt.trim(),
  };
}

function isBelowTmp(path: string): boolean {
  return path.startsWith('/tmp/') && posix.normalize(path) === path && !path.endsWith('/');
}

function readText(file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch (cause) {
    throw new PermanentError(`workflow ${file} can not be read; check workflows.dir in the configuration`, {
      cause,
    });
  }
}
