import { expect, test } from 'vitest';
import { listSecrets, readSecrets } from '../../../src/config/config.ts';
import { serviceAccountFile } from '../../services/google-account.ts';
import { load } from './problems.ts';

const CONFIG = `
models:
  main:
    - { provider: anthropic, model: claude-sonnet-5-5, apiKeyEnv: MODEL_KEY }
    - { provider: gemini, model: gemini-3.8-flash, vertex: { project: my-project-123456, location: global, credentialsEnv: ACCOUNT } }
sources:
  konflux: { clusters: [{ url: 'https://k.example.com', tokenEnv: KONFLUX, namespaces: { 'a/*': b } }] }
  testingFarm: { tokenEnv: FARM }
  mcp:
    - { name: one, url: 'https://mcp.example.com', tokenEnv: MCP_TOKEN, tools: [a] }
    - { name: two, command: server, passEnvs: [MCP_ENV], tools: [b] }
`;

test('every secret that is read is listed, also those within others', () => {
  const key = Buffer.alloc(32, 'signing key ');
  const account = serviceAccountFile('https://oauth2.example.com/token');
  const env = {
    GITLAB_READ_TOKEN: 'the-read-token',
    GITLAB_WRITE_TOKEN: 'the-write-token',
    HUMMINGBIRD_MARKER_KEY: 'first-marker-key second-marker-key',
    HUMMINGBIRD_WEBHOOK_TOKEN: 'the-webhook-token-1',
    HUMMINGBIRD_WEBHOOK_SIGNING_TOKEN: `whsec_${key.toString('base64')}`,
    HUMMINGBIRD_QUEUE_URL: 'postgres://app:p%40ssw0rd@db/app',
    MODEL_KEY: 'the-model-key',
    ACCOUNT: account,
    KONFLUX: 'the-konflux-token',
    FARM: 'the-farm-token',
    MCP_TOKEN: 'the-mcp-token',
    MCP_ENV: 'https://u:mcp-password@h/',
  };
  const secrets = readSecrets(load(CONFIG), {}, env);
  const listed = listSecrets(secrets);

  const leaves = leavesOf({
    ...secrets,
    queueUrl: 'p@ssw0rd',
    serviceAccounts: JSON.parse(account).private_key,
    environment: new Map(),
    warnings: [],
  });
  expect(leaves).toHaveLength(13);
  expect(leaves.filter((one) => !listed.includes(one))).toEqual([]);
  expect(listed).toEqual(
    expect.arrayContaining(['p%40ssw0rd', 'p@ssw0rd', 'mcp-password', key.toString('hex')]),
  );
});

test.each([
  [
    'redis-sentinel://u:s3ntinel-pass@h1:1,h2:2/m?sentinelPassword=other%2Bpass',
    ['s3ntinel-pass', 'other+pass'],
  ],
  ['rediss-sentinel://:p%40ss-of-redis@h1:1,h2:2/m', ['p%40ss-of-redis', 'p@ss-of-redis']],
  ['redis-cluster://u:cluster-pass-1@h1:1,h2:2', ['cluster-pass-1']],
  ['redis://:with:colon@h:6379/0', ['with:colon']],
])('the passwords in the address of the queue: %s', (url, passwords) => {
  const secrets = readSecrets(load(''), {}, {});
  const listed = listSecrets({ ...secrets, queueUrl: url });
  expect(passwords.filter((one) => !listed.includes(one))).toEqual([]);
  expect(listed).not.toContain('u');
});

test('the password that PostgreSQL takes from its own variable, plain as it may be', () => {
  const PGPASSWORD = 'postgres';
  const listOf = (HUMMINGBIRD_QUEUE_URL: string) =>
    listSecrets(readSecrets(load(''), {}, { HUMMINGBIRD_QUEUE_URL, PGPASSWORD }));
  expect(listOf('postgres://u@h/db')).toEqual([PGPASSWORD]);
  expect(listOf('redis://h:6379')).toEqual([]);
});

test('the keys of S3', () => {
  const config = load(`store:
  kind: s3
  bucket: sessions
  spoolDir: /var/spool/x
  credentials: { accessKeyIdEnv: S3_ID, secretAccessKeyEnv: S3_KEY, sessionTokenEnv: S3_TOKEN }
`);
  const env = { S3_ID: 'the-id', S3_KEY: 'the-s3-secret-key', S3_TOKEN: 'the-s3-session-token' };
  expect(listSecrets(readSecrets(config, {}, env))).toEqual([
    'the-id',
    'the-s3-secret-key',
    'the-s3-session-token',
  ]);
});

test('of what is passed to MCP servers, words are none; of tokens all are', () => {
  const words = [
    'production',
    'true',
    'info',
    '8080',
    'eu-west',
    'LOG_LEVEL',
    'en_US',
    '11111111',
    'Europe.Berlin',
  ];
  const keys = ['tr0ub4dor&3', 'a8f3c1a9be0d4527', 'correct-horse-battery-staple', 'xKqPzRtWmN7'];
  const passed = Object.fromEntries([...words, ...keys].map((value, index) => [`V${index}`, value]));
  const secrets = readSecrets(load(''), {}, {});
  const mcp = new Map([['one', { token: 'production', env: passed }]]);
  expect(listSecrets({ ...secrets, mcp })).toEqual(['production', ...keys]);
  expect(listSecrets({ ...secrets, mcp: new Map([['one', { token: undefined, env: passed }]]) })).toEqual(
    keys,
  );
});

test('nothing is listed where nothing is held', () => {
  expect(listSecrets(readSecrets(load(''), {}, {}))).toEqual([]);
});

/** Every text in it, wherever it stands. */
function leavesOf(value: unknown): string[] {
  if (typeof value === 'string') return [value];
  if (Buffer.isBuffer(value)) return [value.toString('base64')];
  if (value instanceof Map) return [...value.values()].flatMap(leavesOf);
  return typeof value === 'object' && value !== null ? Object.values(value).flatMap(leavesOf) : [];
}
