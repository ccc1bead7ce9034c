import { createHmac, randomBytes } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import { isSigned, type VerifyOptions, verifySignature, verifyToken } from '../../../src/webhook/verify.ts';

const NOW = Date.parse('2026-11-18T08:00:00Z');
const [newKey, oldKey] = [randomBytes(32), randomBytes(32)];
const options: VerifyOptions = {
  tokens: ['new-token-0123456789', 'old-token-0123456789'],
  signingKeys: [newKey, oldKey],
  replayWindowMs: 300_000,
  now: () => NOW,
};
const body = Buffer.from('{"object_kind":"pipeline"}');

describe('the secret token', () => {
  test.each(options.tokens)('%s is accepted, so that tokens can be rotated', (token) => {
    expect(verifyToken({ 'x-gitlab-token': token }, options)).toEqual({ ok: true });
  });

  test.each([
    [{}, 'no X-Gitlab-Token and no webhook-signature that could be checked'],
    [{ 'x-gitlab-token': '' }, 'wrong X-Gitlab-Token'],
    [{ 'x-gitlab-token': 'new-token-012345678' }, 'wrong X-Gitlab-Token'],
    [{ 'x-gitlab-token': 'new-token-0123456789 ' }, 'wrong X-Gitlab-Token'],
  ])('%o is refused', (headers, reason) => {
    expect(verifyToken(headers, options)).toEqual({ ok: false, reason });
  });

  test('nothing is accepted when none is configured', () => {
    expect(verifyToken({ 'x-gitlab-token': '' }, { ...options, tokens: [] })).toMatchObject({ ok: false });
  });
});

describe('the signature', () => {
  test.each([
    ['new', newKey],
    ['old', oldKey],
  ])('by the %s key is accepted', (_name, key) => {
    expect(verifySignature(sign(body, { key }), body, options)).toEqual({ ok: true });
  });

  test('is accepted when it is one of several in the header', () => {
    const headers = sign(body);
    headers['webhook-signature'] = `v1,AAAA v2,BBBB ${headers['webhook-signature']}`;
    expect(verifySignature(headers, body, options)).toEqual({ ok: true });
  });

  test('of another body, another key or another id is refused', () => {
    const wrong = { ok: false, reason: 'wrong webhook-signature' };
    expect(verifySignature(sign(body), Buffer.from('{}'), options)).toEqual(wrong);
    expect(verifySignature(sign(body, { key: randomBytes(32) }), body, options)).toEqual(wrong);
    expect(verifySignature({ ...sign(body), 'webhook-id': 'other' }, body, options)).toEqual(wrong);
    expect(verifySignature({ ...sign(body), 'webhook-signature': 'v1,' }, body, options)).toEqual(wrong);
  });

  test.each([-299, 299])('made %i s from now is accepted', (seconds) => {
    expect(verifySignature(sign(body, { seconds }), body, options)).toEqual({ ok: true });
  });

  test.each([-301, 301])('made %i s from now is refused', (seconds) => {
    expect(verifySignature(sign(body, { seconds }), body, options)).toEqual({
      ok: false,
      reason: 'webhook-timestamp is outside of the accepted window',
    });
  });

  test('without id or with a timestamp that is no number is refused', () => {
    const { 'webhook-id': _id, ...withoutId } = sign(body);
    expect(verifySignature(withoutId, body, options)).toMatchObject({ ok: false });
    expect(verifySignature({ ...sign(body), 'webhook-timestamp': 'soon' }, body, options)).toMatchObject({
      ok: false,
    });
  });

  test('counts only when there is a key to check it with', () => {
    expect(isSigned(sign(body), options)).toBe(true);
    expect(isSigned(sign(body), { ...options, signingKeys: [] })).toBe(false);
    expect(isSigned({}, options)).toBe(false);
  });
});

function sign(content: Buffer, { key = newKey, seconds = 0 } = {}): Record<string, string> {
  const timestamp = `${NOW / 1_000 + seconds}`;
  const signature = createHmac('sha256', key).update(`msg_1.${timestamp}.`).update(content).digest('base64');
  return { 'webhook-id': 'msg_1', 'webhook-timestamp': timestamp, 'webhook-signature': `v1,${signature}` };
}
