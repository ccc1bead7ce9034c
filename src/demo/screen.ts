// How the demo looks in a terminal.
import type { AgentEvent } from '../agent/events.ts';
import { type Look, paint, type Style } from './paint.ts';
import { toPrintable } from './printable.ts';
import { renderMarkdown } from './terminal-markdown.ts';

export interface Screen {
  /** A headline of the story. */
  chapter(text: string): void;
  /** One thing that happened. */
  step(what: string, details: string): void;
  agent(event: AgentEvent): void;
  /** A note as it looks on the merge request. */
  note(author: string, body: string): void;
  text(text: string): void;
}

/** Standard output or error, be it a terminal or not. */
export type Output = Pick<NodeJS.WriteStream, 'write' | 'isTTY' | 'columns' | 'hasColors'>;

const MAX_WIDTH = 120;
const MIN_WIDTH = 40;
/** What stands before the details of a step. */
const STEP_WIDTH = 19;
const FRAME_WIDTH = 4;

export function createScreen(out: Output): Screen {
  const look = lookOf(out);
  const { width } = look;
  const as = (style: Style, text: string): string => paint(style, text, look);
  const start = performance.now();
  const seconds = (): string => `${((performance.now() - start) / 1_000).toFixed(1)}s`.padStart(6);
  const line = (text = ''): void => void out.write(`${text}\n`);
  const step: Screen['step'] = (what, details) =>
    line(`${as('gray', seconds())}  ${as('cyan', what.padEnd(10))} ${shorten(details, width - STEP_WIDTH)}`);

  return {
    step,
    chapter: (text) => line(`\n${as('bold', `▶ ${text}`)}`),
    text: (text) => line(text),
    agent(event) {
      const told = tell(event);
      if (told) step(...told);
    },
    note(author, body) {
      line();
      line(as('gray', `  ╭─ ${author} `.padEnd(width, '─')));
      for (const text of renderMarkdown(body, { ...look, width: width - FRAME_WIDTH }))
        line(`  ${as('gray', '│')} ${text}`.trimEnd());
      line(as('gray', '  ╰'.padEnd(width, '─')));
    },
  };
}

/** A terminal knows by itself whether it has colours, and whether its user wants them (`NO_COLOR`). */
export function lookOf(out: Output): Look {
  const columns = out.columns || MAX_WIDTH;
  return {
    width: Math.max(MIN_WIDTH, Math.min(MAX_WIDTH, columns)),
    hasColours: out.isTTY && out.hasColors(),
  };
}

/** What a person wants to see of it, if anything. */
function tell(event: AgentEvent): [string, string] | null {
  switch (event.type) {
    case 'turn-started':
      return ['turn', `${event.iteration} of at most ${event.maxIterations}`];
    case 'turn':
      return event.calls.length > 0 && event.text ? ['  says', event.text] : null;
    case 'warning':
      return ['  warned', event.kind];
    case 'tool-started':
      return ['  calls', `${event.call.name} ${toArguments(event.call.arguments)}`];
    case 'tool-progress':
      return ['  so far', event.text];
    case 'tool-finished':
      return [event.isError ? '  failed' : '  gets', `(${event.durationMs} ms) ${toResult(event.result)}`];
    case 'tool-refused':
      return ['  refused', `${event.call.name}: ${event.reason}`];
    case 'sent-back':
      return ['  sent back', event.reason];
    case 'retry':
      return [
        '  waits',
        `${Math.ceil(event.waitMs / 1_000)} s, then asks ${event.model} again: ${event.reason}`,
      ];
    case 'fallback':
      return ['  switches', `from ${event.from} to ${event.to}: ${event.reason}`];
    case 'context-overflow':
      return ['  too long', event.reason];
    case 'compaction':
      return ['  shortens', `${event.how}: from ${event.tokensBefore} to ${event.tokensAfter} tokens`];
    case 'compaction-failed':
      return ['  too long', event.reason];
    default:
      return null;
  }
}

function toArguments(args: Record<string, unknown>): string {
  if (typeof args.command === 'string') return args.command;
  const text = JSON.stringify(args);
  return text === '{}' ? '' : text;
}

function toResult(result: Record<string, unknown>): string {
  if (typeof result.stdout === 'string') return `exit ${result.exit_code}: ${result.stdout}`;
  return JSON.stringify(result);
}

function shorten(text: string, width: number): string {
  const flat = toPrintable(text).replaceAll(/\s+/g, ' ').trim();
  return flat.length > width ? `${flat.slice(0, width - 1)}…` : flat;
}
