import { hkdfSync } from 'node:crypto';
import type { Secrets } from '../config/config.ts';

/**
 * What signs the hidden marks in the agent's notes: keys of their own, and always one made from the write token,
 * so that notes from before there was another key are still known.
 */
export function toMarkerKeys({
  markerKeys,
  gitlabWriteToken,
}: Pick<Secrets, 'markerKeys' | 'gitlabWriteToken'>): Buffer[] {
  return [...markerKeys, ...(gitlabWriteToken ? [gitlabWriteToken] : [])].map((secret) =>
    Buffer.from(hkdfSync('sha256', secret, '', 'hummingbird note marker', 32)),
  );
}
