import { hkdfSync } from 'node:crypto';

/** Signs the hidden marks in the agent's notes. Made from the write token, which nobody else has. */
export function toMarkerKey(writeToken: string): Buffer {
  return Buffer.from(hkdfSync('sha256', writeToken, '', 'hummingbird note marker', 32));
}
