import { cutWords } from '../cut-words.ts';

const MAX_WORDS = 500;

/** What a service wrote into an error answer, as one line: GitLab alone has several forms for the same thing. */
export function toWords(text: string): string {
  const words = text.trimStart().startsWith('<') ? '' : flatten(parse(text));
  return cutWords(words.replace(/\s+/g, ' ').trim(), MAX_WORDS);
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    // Not every answer comes from the service itself: proxies and rate limits speak plain text.
    return text;
  }
}

function flatten(value: unknown): string {
  if (value === null || value === undefined) return '';
  if (Array.isArray(value)) return value.map(flatten).join(', ');
  if (typeof value !== 'object') return String(value);
  // Of Kubernetes, which says everything else twice.
  if ('kind' in value && value.kind === 'Status' && 'message' in value) return flatten(value.message);
  return Object.entries(value)
    .map(([key, inner]) => (isEnvelope(key) ? flatten(inner) : `${key}: ${flatten(inner)}`))
    .join('; ');
}

function isEnvelope(key: string): boolean {
  return key === 'message' || key === 'error' || key === 'error_description' || key === 'base';
}
