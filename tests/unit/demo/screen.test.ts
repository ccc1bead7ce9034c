import { WriteStream } from 'node:tty';
import { stripVTControlCharacters } from 'node:util';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { createScreen, type Output } from '../../../src/demo/screen.ts';

let printed = '';
beforeEach(() => {
  printed = '';
  vi.stubEnv('FORCE_COLOR', undefined);
  vi.stubEnv('NO_COLOR', undefined);
  vi.stubEnv('NODE_DISABLE_COLORS', undefined);
  vi.stubEnv('TERM', 'xterm-256color');
});
afterEach(() => vi.unstubAllEnvs());

/** Decides on colours as every terminal of Node does. */
function output({ isTTY = false, columns = 0 } = {}): Output {
  return Object.assign(Object.create(WriteStream.prototype), {
    isTTY,
    columns,
    write: (text: string) => {
      printed += text;
    },
  });
}

describe('a note', () => {
  const BODY = '**Verdict:** a `cent`.\n\n<sub>small</sub>\n\n<!-- hummingbird:mark -->';

  test('is framed and plain where there is no terminal', () => {
    createScreen(output()).note('Mira', BODY);
    expect(printed.split('\n')).toEqual([
      '',
      `  ╭─ Mira ${'─'.repeat(110)}`,
      '  │ Verdict: a `cent`.',
      '  │',
      '  │ small',
      `  ╰${'─'.repeat(117)}`,
      '',
    ]);
  });

  test('has colours in a terminal, unless its user wants none', () => {
    // A terminal of CI has none.
    vi.stubEnv('CI', undefined);
    vi.stubEnv('TERM', 'xterm-256color');
    createScreen(output({ isTTY: true })).note('Mira', BODY);
    expect(printed).toContain('\x1b[1mVerdict:\x1b[22m');
    printed = '';
    vi.stubEnv('NO_COLOR', '1');
    createScreen(output({ isTTY: true })).note('Mira', BODY);
    expect(printed).toContain('│ Verdict: a `cent`.');
    expect(printed).not.toContain('\x1b');
  });

  test('fits into a narrow terminal', () => {
    createScreen(output({ isTTY: true, columns: 50 })).note(
      'Mira',
      `${'word '.repeat(30)}\n\n${'x'.repeat(99)}`,
    );
    const widths = printed.split('\n').map((line) => stripVTControlCharacters(line).length);
    expect(Math.max(...widths)).toBe(50);
  });
});

test('a step is one line that fits, whatever its text would do to the terminal', () => {
  const details = `\x1b[2Ja\x08\nb ${'c'.repeat(200)}`;
  createScreen(output({ columns: 80 })).step('says', details);
  expect(printed).toMatch(/^ +0\.0s {2}says {7}a b c+…\n$/);
  expect(printed).toHaveLength(81);
});
