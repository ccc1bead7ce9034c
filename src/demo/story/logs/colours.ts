// ANSI colours as the tools of a job write them, and the way back to what a person reads.
export const red = wrap('31', '39');
export const green = wrap('32', '39');
export const yellow = wrap('33', '39');
export const cyan = wrap('36', '39');
export const dim = wrap('2', '22');
export const bold = wrap('1', '22');
export const redBadge = wrap('41', '49');

/** The runner closes its colours in its own way. */
export const runnerGreen = (text: string): string => `${ESC}[32;1m${text}${ESC}[0;m`;
export const runnerCyan = (text: string): string => `${ESC}[36;1m${text}${ESC}[0;m`;
export const runnerRed = (text: string): string => `${ESC}[31;1m${text}${ESC}[0;m`;

/** Puts the cursor back and clears the line: what hides a section mark from people. */
export const CLEAR_LINE = '\r\u001b[0K';

/** A line as a person sees it: without colours and section marks, of a progress bar its last state. */
export function toPlainLine(line: string): string {
  return (line.replace(ANSI, '').trimEnd().split('\r').at(-1) ?? '').trimEnd();
}

const ESC = '\u001b';
const ANSI = new RegExp(`${ESC}\\[[0-9;]*[A-Za-z]`, 'g');

function wrap(open: string, close: string): (text: string) => string {
  return (text) => `\u001b[${open}m${text}\u001b[${close}m`;
}
