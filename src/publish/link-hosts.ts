// Which addresses may be links. By the strictest reading: what one parser could take for another host is no link.

/** Whether links may lead to this host, with its port if it has one. */
export type IsLinkHost = (host: string) => boolean;

/** Of `host`, `host:port` and `*.domain`; without a port the usual one is meant. */
export function createLinkHosts(patterns: readonly string[]): IsLinkHost {
  const known = patterns.map((pattern) => pattern.toLowerCase());
  return (host) =>
    known.some((pattern) => (pattern.startsWith('*.') ? host.endsWith(pattern.slice(1)) : host === pattern));
}

const ADDRESS = /https?:\/\/([a-z0-9]+(?:[.-]+[a-z0-9]+)*(?::\d{1,5})?)([/?#][\w.~:/?#@!%&=+,;*-]*)?/iy;
/** What ends a host for every reader. More would do for some; others take it for the name of a user. */
const HOST_END = /[)\]]?[.,:?]?(?:\s|$)/y;

/**
 * The address of an allowed host that begins here; empty when there is none. `where`: in a text, or alone between the
 * brackets of a link.
 */
export function matchAddress(
  line: string,
  at: number,
  { isLinkHost, where }: { isLinkHost: IsLinkHost; where: 'text' | 'brackets' },
): string {
  if (!/h/i.test(line.charAt(at)) || /[a-z\d+.-]/i.test(line.charAt(at - 1))) return '';
  ADDRESS.lastIndex = at;
  const [address, host = '', path] = ADDRESS.exec(line) ?? [];
  if (address === undefined || !isLinkHost(host.toLowerCase())) return '';
  const end = at + address.length;
  if (where === 'brackets') return line.charAt(end) === ')' ? address : '';
  HOST_END.lastIndex = end;
  return path === undefined && !HOST_END.test(line) ? '' : address;
}

/** No mention, and no entity, which would be decoded. */
export function escapeAddress(address: string): string {
  return address.replaceAll('@', '%40').replaceAll(/&(?=#?\w{1,40};)/g, '&amp;');
}
