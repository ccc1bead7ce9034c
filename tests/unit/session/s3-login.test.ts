// What the SDK logs in with when nobody has configured any keys.
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { afterEach, expect, inject, onTestFinished, test, vi } from 'vitest';
import { openS3Store } from '../../../src/session/s3-store.ts';
import { S3_KEYS, s3Options } from '../../services/s3.ts';

afterEach(() => vi.unstubAllEnvs());

test('the identity of a pod is told before it is given for keys, and with them from then on', async () => {
  const identity = 'identity-of-the-pod-4711';
  const file = join(mkdtempSync(join(tmpdir(), 'hummingbird-s3-login-')), 'token');
  writeFileSync(file, identity);
  let told: readonly string[] = [];
  const toldBefore: (readonly string[])[] = [];
  const sts = await startSts(() => toldBefore.push(told));
  vi.stubEnv('AWS_ACCESS_KEY_ID', undefined);
  vi.stubEnv('AWS_ENDPOINT_URL_STS', sts);
  vi.stubEnv('AWS_ROLE_ARN', 'arn:aws:iam::123456789012:role/agent');
  vi.stubEnv('AWS_WEB_IDENTITY_TOKEN_FILE', file);

  const store = openS3Store(
    s3Options(inject('s3Url'), { credentials: undefined, learn: (secrets) => (told = secrets) }),
  );
  await store.check();
  await store.close();

  expect(toldBefore).toEqual([[identity]]);
  const { accessKeyId, secretAccessKey } = S3_KEYS;
  expect(told).toEqual([accessKeyId, secretAccessKey, 'token-of-the-session', identity]);
});

test('so are keys of other profiles, logins of single sign-on, and the identity that EKS gives to a pod', async () => {
  const home = mkdtempSync(join(tmpdir(), 'hummingbird-s3-home-'));
  const { accessKeyId, secretAccessKey } = S3_KEYS;
  mkdirSync(join(home, '.aws/sso/cache'), { recursive: true });
  const profiles = [
    `[default]\naws_access_key_id = ${accessKeyId}\naws_secret_access_key = ${secretAccessKey}`,
    '[base]\naws_access_key_id=other\naws_secret_access_key=secret-of-another-profile',
  ];
  writeFileSync(join(home, '.aws/credentials'), profiles.join('\n'));
  const login = {
    accessToken: 'token-of-a-login',
    refreshToken: 'token-that-renews-it',
    region: 'eu-west-1',
  };
  writeFileSync(join(home, '.aws/sso/cache/a.json'), JSON.stringify(login));
  writeFileSync(join(home, 'pod'), 'identity-of-the-pod-4711\n');
  vi.stubEnv('AWS_ACCESS_KEY_ID', undefined);
  vi.stubEnv('HOME', home);
  let told: readonly string[] = [];
  const environment = new Map([
    ['HOME', home],
    ['AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE', join(home, 'pod')],
  ]);

  const learn = (secrets: readonly string[]): void => {
    told = secrets;
  };
  const store = openS3Store(s3Options(inject('s3Url'), { credentials: undefined, learn, environment }));
  await store.check();
  await store.close();

  expect(new Set(told)).toEqual(
    new Set([
      ...[accessKeyId, secretAccessKey, 'secret-of-another-profile'],
      ...['token-of-a-login', 'token-that-renews-it', 'identity-of-the-pod-4711'],
    ]),
  );
});

/** Gives the keys of the tests' S3 to everybody. */
async function startSts(onAsked: () => void): Promise<string> {
  const { accessKeyId, secretAccessKey } = S3_KEYS;
  const keys = `<AccessKeyId>${accessKeyId}</AccessKeyId><SecretAccessKey>${secretAccessKey}</SecretAccessKey><SessionToken>token-of-the-session</SessionToken><Expiration>2100-01-01T00:00:00Z</Expiration>`;
  const result = `<AssumeRoleWithWebIdentityResult><Credentials>${keys}</Credentials></AssumeRoleWithWebIdentityResult>`;
  const server = createServer(async (request, response) => {
    await text(request);
    onAsked();
    response.setHeader('content-type', 'text/xml');
    response.end(
      `<AssumeRoleWithWebIdentityResponse xmlns="https://sts.amazonaws.com/doc/2011-06-15/">${result}</AssumeRoleWithWebIdentityResponse>`,
    );
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => void server.close());
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}
