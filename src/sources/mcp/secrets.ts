// What we gave to a server so that it knows us; whatever it echoes of that is taken out of its answers.
import { cutWords } from '../../cut-words.ts';
import type { McpServer } from './server.ts';

const MAX_ERROR = 2_000;
/** Shorter variables are settings (`1`, `info`) rather than secrets, and occur in any text. */
const MIN_SECRET = 8;

export function withoutSecrets({ reach }: McpServer, words: string): string {
  const secrets =
    reach.kind === 'http'
      ? [reach.token ?? '']
      : Object.values(reach.env).filter(({ length }) => length >= MIN_SECRET);
  return (
    secrets
      .filter(Boolean)
      // A secret may be a part of another one.
      .sort((one, other) => other.length - one.length)
      .reduce((text, secret) => text.replaceAll(secret, '[secret]'), words)
  );
}

/** What a server says of a failure: without our secrets, and not longer than a message should be. */
export function toErrorWords(server: McpServer, words: string): string {
  const clean = withoutSecrets(server, words);
  return clean.length <= MAX_ERROR ? clean : `${cutWords(clean, MAX_ERROR)} [… and more]`;
}
