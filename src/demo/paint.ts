import { styleText } from 'node:util';

export interface Look {
  /** In columns, as the terminal counts them. */
  width: number;
  /** Colours, and links that can be clicked. */
  hasColours: boolean;
}

export type Style = Parameters<typeof styleText>[0];

export function paint(style: Style, text: string, { hasColours }: Look): string {
  return hasColours && text !== '' ? styleText(style, text, { validateStream: false }) : text;
}
