// How the demo looks in a terminal.
import { stripVTControlCharacters } from 'node:util';
import type { AgentEvent } from '../agent/events.ts';

export interface Screen {
  /** A headline of the story. */
  chapter(text: string): void;
  /** One thing that happened. */
  step(what: string, details: string): void;
  agent(event: AgentEvent): void;
  /** A note as it stands on the merge request. */
  note(author: string, body: string): void;
  text(text: string): void;
}

const MAX_DETAILS = 110;
const NOTE_WIDTH = 110;

export function createScreen(write: (text: string) => void, hasColours: boolean): Screen {
  const paint = (code: number, text: string): string => (hasColours ? `\x1b[${code}m${text}\x1b[0m` : text);
  const start = performance.now();
  const seconds = (): string => `${((performance.now() - start) / 1_000).toFixed(1)}s`.padStart(6);
  const line = (text = ''): void => write(`${text}\n`);
  const step: Screen['step'] = (what, details) =>
    line(`${paint(90, seconds())}  ${paint(36, what.padEnd(10))} ${shorten(details)}`);

  return {
    step,
    chapter: (text) => line(`\n${paint(1, `▶ ${text}`)}`),
    text: (text) => line(text),
    agent(event) {
      if (event.type === 'turn-started') step('turn', `${event.iteration} of at most ${event.maxIterations}`);
      if (event.type === 'turn' && event.calls.length > 0 && event.text) step('  says', event.text);
      if (event.type === 'warning') step('  warned', event.kind);
      if (event.type === 'tool-started')
        step('  calls', `${event.call.name} ${toArguments(event.call.arguments)}`);
      if (event.type === 'tool-finished')
        step(event.isError ? '  failed' : '  gets', `(${event.durationMs} ms) ${toResult(event.result)}`);
    },
    note(author, body) {
      line();
      line(paint(90, `  ╭─ ${author} `.padEnd(NOTE_WIDTH + 4, '─')));
      for (const text of toVisible(body).split('\n').flatMap(wrap)) line(`  ${paint(90, '│')} ${text}`);
      line(paint(90, `  ╰${'─'.repeat(NOTE_WIDTH + 1)}`));
    },
  };
}

/** People do not see the hidden mark at the end of a note. */
function toVisible(body: string): string {
  return body.replace(/\s*<!--[^>]*-->\s*$/, '').replace(/<\/?sub>/g, '');
}

/** Between words; what has none, such as an address, is left whole. */
function wrap(text: string): string[] {
  const lines = [''];
  for (const word of text.split(' ')) {
    const last = lines.at(-1) ?? '';
    if (last !== '' && last.length + word.length >= NOTE_WIDTH) lines.push(word);
    else lines[lines.length - 1] = last === '' ? word : `${last} ${word}`;
  }
  // Code keeps its indentation.
  return text.length <= NOTE_WIDTH ? [text] : lines;
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

function shorten(text: string): string {
  const flat = stripVTControlCharacters(text).replace(/\s+/g, ' ').trim();
  return flat.length > MAX_DETAILS ? `${flat.slice(0, MAX_DETAILS - 1)}…` : flat;
}
