import { expect, test } from 'vitest';
import { findEnvironmentSecrets } from '../../../src/redact/environment-secrets.ts';

test.each([
  ['HTTPS_PROXY', 'http://me:pr0xy%2Bpass@proxy.example.com:3128', ['pr0xy%2Bpass', 'pr0xy+pass']],
  ['https_proxy', 'http://me:swordfish@proxy.example.com:3128', ['swordfish']],
  ['PIP_INDEX_URL', 'https://k3yQ9xZ2mB7w@pypi.example.com/simple', ['k3yQ9xZ2mB7w']],
  ['DATABASE_URL', 'postgres://app@db/app?password=s3cretOfDb', ['s3cretOfDb']],
  ['NPM_TOKEN', 'aZ3kQ9xB7wPq2Lm8', ['aZ3kQ9xB7wPq2Lm8']],
  ['AWS_SECRET_ACCESS_KEY', '/aws1+S3cret/9', ['/aws1+S3cret/9']],
  ['db_password', 'correct-horse-4', ['correct-horse-4']],
  ['MAIL_PASS', 'tr0ub4dor', ['tr0ub4dor']],
  [
    'GCP_SA_KEY',
    '{"private_key_id":"x","private_key":"-----BEGIN KEY-----\\nQ9xB7wPq2Lm8\\n","client_email":"a@b","token_uri":"https://oauth2.example.com/token"}',
    ['-----BEGIN KEY-----\nQ9xB7wPq2Lm8\n'],
  ],
])('of %s=%s the secrets are known', (name, value, secrets) => {
  expect(findEnvironmentSecrets(new Map([[name, value]]))).toEqual(secrets);
});

test.each([
  ['PWD', '/home/a1b2c3/project'],
  ['SSH_PRIVATE_KEY', '/home/a1b2c3/.ssh/id_ed25519'],
  ['TLS_KEY', 'certs/server1.key'],
  ['SONAR_PROJECT_KEY', 'acme_payments-api2'],
  ['CACHE_FALLBACK_KEY', 'main-protected-1'],
  ['GPG_KEY', 'A035C8C19219BA821ECEA86B64E628F8D684696D'],
  ['IMAGE_PULL_SECRET', 'default-token-x7k2d'],
  ['API_KEY', 'http://localhost:8080'],
  // biome-ignore lint/suspicious/noTemplateCurlyInString: as it stands where nothing was put in its place
  ['NPM_TOKEN', '${NPM_TOKEN}'],
  ['DEPLOY_TOKEN', '$CI_JOB_TOKEN'],
  ['JOB_TOKEN', '[MASKED]'],
  ['FEATURE_SECRET', 'production'],
  ['POSTGRES_PASSWORD', 'postgres'],
  ['DATABASE_URL', 'postgres://postgres:postgres@db/app'],
  ['REPOSITORY', 'https://git@gitlab.example.com/a/b.git'],
  ['CI_CONFIG', '{not JSON'],
  ['PATH', '/usr/bin?password=x1y2z3w4'],
])('%s=%s is no secret', (name, value) => {
  expect(findEnvironmentSecrets(new Map([[name, value]]))).toEqual([]);
});
