import { PermanentError } from '../errors.ts';

/** It is not repeated in the message: people do put passwords into it. */
export function toBaseUrl(url: string): URL {
  const base = URL.parse(url);
  if (!base || !/^https?:$/.test(base.protocol) || base.username || base.password || base.search) {
    throw new PermanentError(
      "GitLab's URL must be https://host or https://host/path, without user and query",
    );
  }
  return base;
}
