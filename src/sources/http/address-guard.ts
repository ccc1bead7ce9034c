// Addresses that no data source may lead us to, whoever's name resolves to them: the metadata services of clouds,
// which hand out credentials, and what is no address of a single host.
import { type LookupAddress, lookup } from 'node:dns';
import { BlockList, isIP, type LookupFunction } from 'node:net';
import { PermanentError } from '../../errors.ts';

/** Throws for a URL whose host is such an address itself: for those nobody is asked to resolve anything. */
export function checkLiteralAddress({ hostname }: URL): void {
  const address = hostname.replace(/^\[|\]$/g, '');
  if (isIP(address) !== 0 && isRefused(address)) throw toRefusal(hostname, address);
}

/** For `connect`: the address that is connected to is the one that was looked at. */
export const guardedLookup: LookupFunction = (hostname, options, callback) => {
  lookup(hostname, { ...options, all: true }, (error, addresses) => {
    if (error) return callback(error, []);
    const refused = findRefusedAddress(addresses);
    if (refused !== undefined) return callback(toRefusal(hostname, refused), []);
    if (options.all) return callback(null, addresses);
    return callback(null, addresses[0]?.address ?? '', addresses[0]?.family);
  });
};

/** One bad answer spoils all: which of them is used is not ours to choose. */
export function findRefusedAddress(addresses: readonly LookupAddress[]): string | undefined {
  return addresses.map(({ address }) => address).find(isRefused);
}

const REFUSED = new BlockList();
REFUSED.addSubnet('0.0.0.0', 8, 'ipv4');
REFUSED.addSubnet('169.254.0.0', 16, 'ipv4');
REFUSED.addAddress('100.100.100.200', 'ipv4');
REFUSED.addAddress('192.0.0.192', 'ipv4');
REFUSED.addSubnet('224.0.0.0', 3, 'ipv4');
REFUSED.addAddress('::', 'ipv6');
REFUSED.addSubnet('fe80::', 10, 'ipv6');
REFUSED.addSubnet('fd00:ec2::', 32, 'ipv6');
REFUSED.addSubnet('fd20:ce::', 32, 'ipv6');
REFUSED.addSubnet('64:ff9b::a9fe:0', 112, 'ipv6');
REFUSED.addSubnet('ff00::', 8, 'ipv6');

function isRefused(address: string): boolean {
  return REFUSED.check(address, isIP(address) === 6 ? 'ipv6' : 'ipv4');
}

function toRefusal(hostname: string, address: string): PermanentError {
  return new PermanentError(
    `${hostname} has the address ${address}, which no data source may have (metadata service, or no host). Check the name in the configuration and in the DNS`,
  );
}
