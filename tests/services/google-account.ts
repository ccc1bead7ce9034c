// A service account whose key is made here, and what Google's token endpoint answers to it.
import { createPublicKey, generateKeyPairSync, verify } from 'node:crypto';
import type { ServiceAccount } from '../../src/models/vertex.ts';

export const ACCESS_TOKEN = 'ya29.secret-0123456789';
export const TOKEN_PATH = '/token';

const { privateKey } = generateKeyPairSync('rsa', {
  modulusLength: 2048,
  privateKeyEncoding: { type: 'pkcs8', format: 'pem' },
  publicKeyEncoding: { type: 'spki', format: 'pem' },
});

export function serviceAccount(url: string): ServiceAccount {
  return {
    email: 'hummingbird@my-project.iam.gserviceaccount.com',
    keyId: 'key-1',
    privateKey,
    tokenUrl: `${url}${TOKEN_PATH}`,
  };
}

/** The file that Google hands out for it. */
export function serviceAccountFile(url: string): string {
  const { email, keyId, tokenUrl } = serviceAccount(url);
  return JSON.stringify({
    type: 'service_account',
    project_id: 'my-project',
    private_key_id: keyId,
    private_key: privateKey,
    client_email: email,
    token_uri: tokenUrl,
  });
}

/** Status and body, as Google answers: a token only for an assertion that this key has signed. */
export function exchangeAssertion(form: URLSearchParams): { status: number; body: object } {
  const [header = '', claims = '', signature = ''] = (form.get('assertion') ?? '').split('.');
  const isSigned = verify(
    'RSA-SHA256',
    Buffer.from(`${header}.${claims}`),
    createPublicKey(privateKey),
    Buffer.from(signature, 'base64url'),
  );
  if (form.get('grant_type') !== 'urn:ietf:params:oauth:grant-type:jwt-bearer' || !isSigned)
    return { status: 400, body: { error: 'invalid_grant', error_description: 'Invalid JWT Signature.' } };
  return { status: 200, body: { access_token: ACCESS_TOKEN, token_type: 'Bearer', expires_in: 3599 } };
}
