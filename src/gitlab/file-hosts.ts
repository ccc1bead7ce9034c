import type { Trust } from './address.ts';

/** Where GitLab may send us for files: object stores, by `host`, `host:port` or `*.domain`. */
export interface FileHosts {
  allows(url: URL): boolean;
  trustOf(hostname: string): Trust;
}

/** `own` is GitLab's own address, which needs no mention. */
export function createFileHosts(own: URL, listed: readonly string[]): FileHosts {
  const patterns = listed.map((one) => one.toLowerCase());
  const inFull = new Set([own.hostname, ...patterns.filter((one) => !one.startsWith('*.')).map(withoutPort)]);
  return {
    allows: (url) => patterns.some((pattern) => means(pattern, url)),
    trustOf: (hostname) => (inFull.has(hostname.toLowerCase()) ? 'internal' : 'public'),
  };
}

/** Without a port, the usual one of the protocol is meant, for which `url.host` has none either. */
function means(pattern: string, { host }: URL): boolean {
  return pattern.startsWith('*.') ? host.endsWith(pattern.slice(1)) : host === pattern;
}

function withoutPort(host: string): string {
  return host.replace(/:\d+$/, '');
}
