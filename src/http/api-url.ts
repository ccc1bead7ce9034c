import { PermanentError } from '../errors.ts';

/**
 * Below `base`, always: `path` may be built from what a model or a webhook said, and must lead
 * neither to another host (which would get the token) nor, by dots, to another resource.
 */
export function toApiUrl(base: string, path: string, query: string): URL {
  if (/(^|[\\/])(\.|%2e){1,2}([\\/?#]|$)|\p{Cc}/iu.test(path)) {
    throw new PermanentError(`${JSON.stringify(path)} is not a path of an API`);
  }
  const url = new URL(`${withoutSlashes(base)}/${path.replace(/^\/+/, '')}`);
  url.search = query;
  url.hash = '';
  return url;
}

export function withoutSlashes(url: string): string {
  return url.replace(/\/+$/, '');
}
