import type { CallToolResult } from '@modelcontextprotocol/sdk/types.js';
import type { SourceAnswer } from '../source.ts';

/** Structured content as JSON, else all that is text; what is not is named. */
export function fromResult(result: CallToolResult, redact: (words: string) => string): SourceAnswer {
  if (result.structuredContent) return { kind: 'json', value: mapTexts(result.structuredContent, redact) };
  return { kind: 'text', of: 'text', body: redact(toText(result)) };
}

/** The same value, each of its texts as `toWords` writes it. */
export function mapTexts<T>(value: T, toWords: (words: string) => string): T {
  return JSON.parse(JSON.stringify(value), (_, one) => (typeof one === 'string' ? toWords(one) : one));
}

export function toText({ content }: CallToolResult): string {
  return content.map(toWords).join('\n');
}

function toWords(part: CallToolResult['content'][number]): string {
  switch (part.type) {
    case 'text':
      return part.text;
    case 'resource':
      return 'text' in part.resource ? part.resource.text : `[${part.resource.uri}: not text, left out]`;
    case 'resource_link':
      return `[${part.name}: ${part.uri}]`;
    default:
      return `[${part.type}, ${part.mimeType}: left out]`;
  }
}
