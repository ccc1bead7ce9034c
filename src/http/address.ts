// Which addresses are connected to. Names are judged by what they resolve to, when the connection is made.
import { lookup as systemLookup } from 'node:dns';
import { BlockList, isIP, isIPv6, type LookupFunction } from 'node:net';
import { PermanentError } from '../errors.ts';

/** `internal`: the operator named the host, so it may be in their own network. */
export type Trust = 'internal' | 'public';

/** Like the system's, but a name that leads to a forbidden address is an error. */
export function createGuardedLookup(
  trustOf: (hostname: string) => Trust,
  lookup: LookupFunction = systemLookup,
): LookupFunction {
  return (hostname, options, callback) => {
    lookup(hostname, options, (error, found, family) => {
      if (error) return callback(error, found, family);
      const addresses = Array.isArray(found) ? found.map(({ address }) => address) : [found];
      const flaw = addresses.map((one) => findAddressFlaw(one, trustOf(hostname))).find(Boolean);
      if (flaw) return callback(new PermanentError(`${hostname} leads to ${flaw}`), found, family);
      return callback(null, found, family);
    });
  };
}

/** For a host that is an address itself: those are not looked up. */
export function refuseForbiddenAddress(hostname: string, trust: Trust): void {
  const address = hostname.replace(/^\[(.*)\]$/, '$1');
  const flaw = isIP(address) === 0 ? undefined : findAddressFlaw(address, trust);
  if (flaw) throw new PermanentError(`${hostname} is ${flaw}`);
}

function findAddressFlaw(address: string, trust: Trust): string | undefined {
  const family = isIPv6(address) ? 'ipv6' : 'ipv4';
  if (NEVER.check(address, family)) return `${address}, an address that is never connected to`;
  if (trust === 'public' && PRIVATE.check(address, family)) {
    return `${address}, an address of a private network; name the host in full under gitlab.fileHosts if it is meant`;
  }
  return undefined;
}

// An IPv4 rule also holds for the same address written as IPv6 (::ffff:…).
const NEVER = toBlockList([
  // This host, and link-local, where clouds have their metadata servers.
  '0.0.0.0/8',
  '169.254.0.0/16',
  'fe80::/10',
  // Metadata servers elsewhere: AWS, Google, Alibaba, Oracle.
  'fd00:ec2::/32',
  'fd20:ce::/32',
  '100.100.100.200/32',
  '192.0.0.0/24',
  // Azure's, which has a public address, and Scaleway's.
  '168.63.129.16/32',
  'fd00:42::42/128',
  // Multicast and broadcast.
  '224.0.0.0/3',
  'ff00::/8',
  '::/128',
  // Tunnels, which hide an IPv4 address.
  '2002::/16',
  '2001::/32',
  '64:ff9b:1::/48',
]);

const PRIVATE = toBlockList([
  '10.0.0.0/8',
  '100.64.0.0/10',
  '127.0.0.0/8',
  '172.16.0.0/12',
  '192.168.0.0/16',
  '198.18.0.0/15',
  '::1/128',
  'fc00::/7',
  'fec0::/10',
]);

function toBlockList(networks: readonly string[]): BlockList {
  const list = new BlockList();
  for (const network of networks) {
    const [address = '', bits] = network.split('/');
    if (isIPv6(address)) list.addSubnet(address, Number(bits), 'ipv6');
    else {
      list.addSubnet(address, Number(bits), 'ipv4');
      // The same network as NAT64 writes it.
      list.addSubnet(`64:ff9b::${address}`, 96 + Number(bits), 'ipv6');
    }
  }
  return list;
}
