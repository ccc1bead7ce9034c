// A log is named by its path below the files of its request: an id, not an address.
import { PermanentError } from '../../errors.ts';

/** Null for what lies elsewhere: it can not be read. */
export function toLogId(href: string, requestId: string, artifactsUrl: string): string | null {
  const folder = `${artifactsUrl}/${requestId}/`;
  const url = URL.parse(href, folder);
  if (!url?.href.startsWith(folder)) return null;
  return decode(url.href.slice(folder.length)).replace(/[?#].*$/, '') || null;
}

/** Who writes `100%.log` did not encode it, and meant it so. */
function decode(path: string): string {
  try {
    return decodeURI(path);
  } catch {
    return path;
  }
}

/** Below the artifacts. Throws for what is no such path. */
export function toLogPath(id: string, requestId: string): string {
  const parts = id.split('/');
  if (parts.some((part) => part === '' || part === '.' || part === '..') || /[\\\p{Cc}]/u.test(id))
    throw new PermanentError(`${JSON.stringify(id)} is not a log; take one from testing_farm_list_results`);
  return [requestId, ...parts.map(encodeURIComponent)].join('/');
}
