import { hkdfSync } from 'node:crypto';
import type { Secrets } from '../config/config.ts';

type CanarySecrets = Pick<Secrets, 'markerKeys' | 'gitlabWriteToken' | 'gitlabReadToken'>;

/** Makes the marks of prompts and sandboxes, from a secret that all processes of a service have. */
export function toCanaryKey({ markerKeys, gitlabWriteToken, gitlabReadToken }: CanarySecrets): Buffer {
  const secret = markerKeys[0] ?? gitlabWriteToken ?? gitlabReadToken ?? '';
  return Buffer.from(hkdfSync('sha256', secret, '', 'hummingbird canary', 32));
}

/** For runs that are recorded or replayed: the prompt has to be the same wherever that is done. */
export const RECORDED_CANARY_KEY = Buffer.from('hummingbird recording');
