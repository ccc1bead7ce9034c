import { createHash, createHmac, timingSafeEqual } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';

export interface VerifyOptions {
  /** Accepted at the same time, so that they can be rotated without losing an event. */
  tokens: readonly string[];
  signingKeys: readonly Buffer[];
  replayWindowMs: number;
  now: () => number;
}

export type Verdict = { ok: true } | { ok: false; reason: string };

/** Whether the headers carry a signature that these options can judge; then nothing else counts. */
export function isSigned(headers: IncomingHttpHeaders, options: VerifyOptions): boolean {
  return options.signingKeys.length > 0 && headers['webhook-signature'] !== undefined;
}

export function verifyToken(headers: IncomingHttpHeaders, options: VerifyOptions): Verdict {
  const given = single(headers['x-gitlab-token']);
  if (given === undefined) return refuse('no X-Gitlab-Token and no webhook-signature that could be checked');
  // Digests have one length, and every token is compared, so that time tells nothing.
  const matches = options.tokens.map((token) => timingSafeEqual(digest(token), digest(given)));
  return matches.includes(true) ? { ok: true } : refuse('wrong X-Gitlab-Token');
}

/** Standard Webhooks: HMAC-SHA256 over "id.timestamp.body", several signatures in one header. */
export function verifySignature(headers: IncomingHttpHeaders, body: Buffer, options: VerifyOptions): Verdict {
  const id = single(headers['webhook-id']);
  const timestamp = single(headers['webhook-timestamp']);
  const signatures = single(headers['webhook-signature']);
  if (!id || !timestamp || !signatures)
    return refuse('webhook-id, -timestamp and -signature belong together');
  if (!/^\d{1,12}$/.test(timestamp)) return refuse('webhook-timestamp is not a number of seconds');

  const given = signatures
    .split(' ')
    .filter((signature) => signature.startsWith('v1,'))
    .map((signature) => Buffer.from(signature.slice('v1,'.length), 'base64'));
  const matches = options.signingKeys.flatMap((key) => {
    const expected = createHmac('sha256', key).update(`${id}.${timestamp}.`).update(body).digest();
    return given.map(
      (signature) => signature.length === expected.length && timingSafeEqual(signature, expected),
    );
  });
  if (!matches.includes(true)) return refuse('wrong webhook-signature');
  if (Math.abs(options.now() - Number(timestamp) * 1_000) > options.replayWindowMs)
    return refuse('webhook-timestamp is outside of the accepted window');
  return { ok: true };
}

function single(header: string | string[] | undefined): string | undefined {
  return Array.isArray(header) ? header[0] : header;
}

function digest(text: string): Buffer {
  return createHash('sha256').update(text).digest();
}

function refuse(reason: string): Verdict {
  return { ok: false, reason };
}
