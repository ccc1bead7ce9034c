import type { LookupAddress } from 'node:dns';
import { expect, test } from 'vitest';
import { findRefusedAddress } from '../../../src/sources/http/address-guard.ts';

test.each([
  [['10.0.0.1', '192.168.1.2', '127.0.0.1', '2001:db8::1', '93.184.216.34'], undefined],
  [['93.184.216.34', '169.254.169.254'], '169.254.169.254'],
  [['::ffff:169.254.169.254'], '::ffff:169.254.169.254'],
  [['64:ff9b::a9fe:a9fe'], '64:ff9b::a9fe:a9fe'],
  [['fd00:ec2::254'], 'fd00:ec2::254'],
])('a name that resolves to %j is refused for %s', (addresses, refused) => {
  const resolved: LookupAddress[] = addresses.map((address) => ({
    address,
    family: address.includes(':') ? 6 : 4,
  }));

  expect(findRefusedAddress(resolved)).toBe(refused);
});
