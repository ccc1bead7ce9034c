import { PermanentError } from '../errors.ts';
import { refuseForbiddenAddress, type Trust } from '../http/address.ts';

/** Where GitLab may send us for files: object stores, by `host`, `host:port` or `*.domain`. */
export interface FileHosts {
  /** Throws for whatever is neither GitLab's own origin nor listed, and for addresses that are refused anyway. */
  checkTarget(url: URL): void;
  trustOf(hostname: string): Trust;
}

/** `own` is GitLab's own address, which needs no mention. */
export function createFileHosts(own: URL, listed: readonly string[]): FileHosts {
  const patterns = listed.map((one) => one.toLowerCase());
  const inFull = new Set([own.hostname, ...patterns.filter((one) => !one.startsWith('*.')).map(withoutPort)]);
  const trustOf = (hostname: string) => (inFull.has(hostname.toLowerCase()) ? 'internal' : 'public');
  return {
    trustOf,
    checkTarget(url) {
      const isAllowed = url.origin === own.origin || patterns.some((pattern) => means(pattern, url));
      if (!isAllowed) throw toUnlistedHost(url);
      refuseForbiddenAddress(url.hostname, trustOf(url.hostname));
    },
  };
}

/** Without a port, the usual one of the protocol is meant, for which `url.host` has none either. */
function means(pattern: string, { host }: URL): boolean {
  return pattern.startsWith('*.') ? host.endsWith(pattern.slice(1)) : host === pattern;
}

function withoutPort(host: string): string {
  return host.replace(/:\d+$/, '');
}

function toUnlistedHost({ host }: URL): PermanentError {
  return new PermanentError(
    `GitLab redirects to ${host}, which is not followed. If it keeps its files there, add ${host} to gitlab.fileHosts in the configuration`,
  );
}
