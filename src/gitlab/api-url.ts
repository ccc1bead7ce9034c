import { PermanentError } from '../errors.ts';

/**
 * Below `base`, always: `path` may be built from what a model or a webhook said, and must lead
 * neither to another host (which would get the token) nor, by dots, to another resource.
 */
export function toApiUrl(base: string, path: string, query: string): URL {
  if (/(^|[\\/])(\.|%2e){1,2}([\\/?#]|$)|\p{Cc}/iu.test(path)) {
    throw new PermanentError(`${JSON.stringify(path)} is not a path of GitLab's API`);
  }
  const url = new URL(`${withoutSlashes(base)}/${path.replace(/^\/+/, '')}`);
  url.search = query;
  url.hash = '';
  return url;
}

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

export function withoutSlashes(url: string): string {
  return url.replace(/\/+$/, '');
}
