// Secrets that nobody has configured: libraries find them, or get them while the service runs. None is passed on.
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { inspect } from 'node:util';
import { GetObjectCommand, ListObjectsV2Command, S3Client } from '@aws-sdk/client-s3';
import { afterEach, describe, expect, inject, onTestFinished, test, vi } from 'vitest';
import { parse, stringify } from 'yaml';
import { postgres, titleOf } from '../services/backends.ts';
import type { ScriptedAnswer } from '../services/model.ts';
import { guardPostgresDatabase } from '../services/postgres.ts';
import { S3_BUCKET, S3_KEYS, s3Options } from '../services/s3.ts';
import { readSessions, seen, toText } from './places.ts';
import { addHook, arrangeStopped, ended, failPipeline, noteOf, scene } from './story-scene.ts';

afterEach(() => vi.unstubAllEnvs());

const chance = (): string => randomBytes(18).toString('base64url');

describe('a login to a cluster', () => {
  test('by a program that gives another token each time', async () => {
    const cluster = await startCluster();
    const script = join(newFolder(), 'login.mjs');
    writeFileSync(
      script,
      `import { randomBytes } from 'node:crypto';
       const status = { token: randomBytes(18).toString('base64url'), expirationTimestamp: '2020-01-01T00:00:00Z' };
       console.log(JSON.stringify({ apiVersion: 'client.authentication.k8s.io/v1', kind: 'ExecCredential', status }));`,
    );
    const [secret, option] = [chance(), chance()];
    const env = [{ name: 'AZURE_CLIENT_SECRET', value: secret }];
    const exec = { command: process.execPath, args: [script, '--client-secret', option], env };

    await arrangeKubeconfig(cluster.url, { exec });
    await expectNothingPassedOn(() => [...cluster.tokens, secret, option]);
    expect(new Set(cluster.tokens).size).toBeGreaterThan(1);
  });

  test('by a file with a token that changes', async () => {
    const cluster = await startCluster();
    const file = join(newFolder(), 'token');
    writeFileSync(file, chance());
    vi.useFakeTimers({ toFake: ['Date'] });
    onTestFinished(() => void vi.useRealTimers());
    // As the service account of a pod: its token is read again after a minute.
    const changes = (): void => {
      writeFileSync(file, chance());
      vi.setSystemTime(Date.now() + 61_000);
    };

    await arrangeKubeconfig(cluster.url, {
      'auth-provider': { name: 'tokenFile', config: { tokenFile: file } },
    });
    await expectNothingPassedOn(() => cluster.tokens, changes);
    expect(new Set(cluster.tokens).size).toBeGreaterThan(1);
  });

  test('by what stands in the file, for whichever user', async () => {
    const cluster = await startCluster();
    const [password, other, refresh] = [chance(), chance(), chance()];
    const oidc = { name: 'oidc', config: { 'refresh-token': refresh, 'client-id': 'somebody' } };

    await arrangeKubeconfig(cluster.url, { username: 'reader', password }, [
      { name: 'other', user: { token: other } },
      { name: 'third', user: { 'auth-provider': oidc } },
    ]);
    await expectNothingPassedOn(() => [password, other, refresh]);
  });
});

test('a program that fails and tells what it was given is quoted without that', async () => {
  const script = join(newFolder(), 'login.mjs');
  writeFileSync(script, "console.error('refused: ' + process.env.LOGIN_SECRET); process.exit(1);");
  const secret = chance();
  const exec = { command: process.execPath, args: [script], env: [{ name: 'LOGIN_SECRET', value: secret }] };
  await arrangeKubeconfig('https://k8s.example.com', { exec });

  const error = await scene.start().catch((thrown: unknown) => thrown);

  expect(error).toHaveProperty('message', expect.stringContaining('refused: [redacted: own-secret]'));
  expect(inspect(error, { depth: 9 })).not.toContain(secret);
  expect(JSON.stringify(scene.logged)).not.toContain(secret);
});

test('the tokens of Google that a model on Vertex AI is asked with', async () => {
  const [identity, intermediate, token] = [chance(), chance(), chance()];
  const account =
    '/v1/projects/-/serviceAccounts/agent@my-project.iam.gserviceaccount.com:generateAccessToken';
  const asked: (string | undefined)[] = [];
  const google = await startServer(({ url, headers }) => {
    asked.push(url);
    if (url === '/token') return { access_token: intermediate, token_type: 'Bearer', expires_in: 3_600 };
    const isKnown = url === account && headers.authorization === `Bearer ${intermediate}`;
    return isKnown ? { accessToken: token, expireTime: new Date(Date.now() + 3_600_000).toISOString() } : {};
  });
  const folder = newFolder();
  writeFileSync(join(folder, 'identity'), identity);
  const credentials = {
    type: 'external_account',
    audience: '//iam.googleapis.com/projects/1/locations/global/workloadIdentityPools/p/providers/c',
    subject_token_type: 'urn:ietf:params:oauth:token-type:jwt',
    token_url: `${google}/token`,
    client_id: 'somebody',
    client_secret: chance(),
    credential_source: { file: join(folder, 'identity') },
    service_account_impersonation_url: `${google}${account}`,
  };
  writeFileSync(join(folder, 'credentials.json'), JSON.stringify(credentials));
  vi.stubEnv('GOOGLE_APPLICATION_CREDENTIALS', join(folder, 'credentials.json'));

  await arrangeStopped();
  changeConfig(({ models }) => {
    const [{ apiKeyEnv: _, ...model }] = models.main;
    models.main = [{ ...model, vertex: { project: 'my-project', location: 'eu' } }];
  });
  await expectNothingPassedOn(() => [identity, intermediate, token, credentials.client_secret]);
  // One for all runs.
  expect(asked).toEqual(['/token', account]);
  expect(scene.model.sent[0]?.headers.authorization).toBe(`Bearer ${token}`);
});

test.skipIf(!postgres.available)(titleOf('the password out of .pgpass', postgres), async () => {
  const password = chance();
  const { url, keyPrefix } = await postgres.create();
  const address = await guardPostgresDatabase(url, password);
  const file = join(newFolder(), 'pgpass');
  writeFileSync(file, `127.0.0.1:*:*:*:${password}\n`, { mode: 0o600 });
  vi.stubEnv('PGPASSFILE', file);

  await arrangeStopped({ backend: { url: address, keyPrefix } });
  await expectNothingPassedOn(() => [password]);
});

test('the keys of S3 that the SDK finds', async () => {
  vi.stubEnv('AWS_ACCESS_KEY_ID', S3_KEYS.accessKeyId);
  vi.stubEnv('AWS_SECRET_ACCESS_KEY', S3_KEYS.secretAccessKey);
  vi.stubEnv('AWS_SESSION_TOKEN', chance());
  const { prefix, bucket, endpoint } = s3Options(inject('s3Url'));

  await arrangeStopped();
  changeConfig((config) => {
    config.store = { kind: 's3', bucket, endpoint, prefix, forcePathStyle: true };
  });
  const secrets = [S3_KEYS.accessKeyId, process.env.AWS_SESSION_TOKEN ?? ''];
  await expectNothingPassedOn(
    () => secrets,
    undefined,
    () => readBucket(prefix),
  );
});

/** A run in which every source, command and word of the model has them. */
async function expectNothingPassedOn(
  secrets: () => string[],
  beforeEach = (): void => undefined,
  readStore = () => readSessions(scene),
): Promise<void> {
  const { gitlab } = scene;
  const { jobId } = failPipeline();
  const leak = (): string =>
    secrets()
      .flatMap(toForms)
      .map((form) => `said ${form}`)
      .join('\n');
  const list = { name: 'konflux_list_pipelineruns' };
  const fetch = { tool: 'gitlab_get_job_log', args: { job_id: jobId }, path: '/tmp/data/unit.log' };
  const script: (() => ScriptedAnswer)[] = [
    () => ({ calls: [{ name: 'gitlab_get_mr_details' }, list] }),
    () => ({ calls: [list] }),
    () => {
      gitlab.setTrace(jobId, `${leak()}\nAssertionError: expected 10.00\n`);
      const job = { job_id: jobId };
      return {
        calls: [
          { name: 'fetch_to_sandbox', arguments: fetch },
          { name: 'gitlab_get_job_log', arguments: job },
        ],
      };
    },
    () => ({
      text: leak(),
      calls: [{ name: 'sandbox_exec', arguments: { command: `echo '${leak()}' | tee /tmp/data/x` } }],
    }),
    () => ({ text: `It fails with "AssertionError: expected 10.00".\n\n${leak()}` }),
  ];
  let turn = 0;
  scene.model.script = () => {
    beforeEach();
    return script[turn++]?.() ?? { text: 'Nothing more.' };
  };
  const service = await scene.start();
  addHook(service.url);
  gitlab.setJobStatus(jobId, 'running');
  gitlab.setJobStatus(jobId, 'failed', { failureReason: 'script_failure' });
  const note = await noteOf(0);
  await expect.poll(() => ended().length, { timeout: 20_000 }).toBe(1);

  const places: Record<string, string> = {
    'the requests to the model': JSON.stringify(scene.model.sent.map(({ path, body }) => [path, body])),
    'the log': JSON.stringify(scene.logged),
    'the note': seen(note.body),
    ...(await readStore()),
  };
  expect(Object.keys(places)).toEqual(expect.arrayContaining(['context.json', 'sandbox.tar.gz']));
  expect(seen(note.body)).toContain('[redacted: own-secret]');
  expect(places['the requests to the model']).toContain('[redacted: own-secret]');
  const found = Object.entries(places).flatMap(([place, text]) =>
    secrets()
      .flatMap(toForms)
      .filter((form) => text.includes(form) || text.includes(JSON.stringify(form).slice(1, -1)))
      .map((form) => `${form} in ${place}`),
  );
  expect(found).toEqual([]);
}

function toForms(secret: string): string[] {
  const bytes = Buffer.from(secret);
  const half = Math.ceil(secret.length / 2);
  return [
    secret,
    // The last characters of base64 depend on what follows.
    bytes.toString('base64').replace(/.{2}=+$/, ''),
    bytes.toString('hex'),
    Array.from(bytes, (byte) => `%${byte.toString(16)}`).join(''),
    `${secret.slice(0, half)}\n${secret.slice(half)}`,
  ];
}

async function arrangeKubeconfig(server: string, user: object, others: object[] = []): Promise<void> {
  const file = join(newFolder(), 'config');
  const config = {
    'current-context': 'here',
    clusters: [{ name: 'k8s', cluster: { server, 'insecure-skip-tls-verify': true } }],
    users: [{ name: 'reader', user }, ...others],
    contexts: [{ name: 'here', context: { cluster: 'k8s', user: 'reader' } }],
  };
  writeFileSync(file, JSON.stringify(config));
  const cluster = { kubeconfig: file, namespaces: { 'shop/**': 'team' } };
  await arrangeStopped({ config: { sources: { konflux: { clusters: [cluster] } } } });
}

// biome-ignore lint/suspicious/noExplicitAny: a file of settings, to be changed anywhere
function changeConfig(change: (config: any) => void): void {
  const config = parse(readFileSync(scene.file, 'utf8'));
  change(config);
  writeFileSync(scene.file, stringify(config));
}

/** A cluster without anything in it, that lets everybody in. */
async function startCluster() {
  const tokens: string[] = [];
  const url = await startServer(({ headers }) => {
    tokens.push((headers.authorization ?? '').replace(/^\S+ /, ''));
    return { items: [] };
  });
  return { url, tokens };
}

async function startServer(answer: (request: IncomingMessage) => unknown): Promise<string> {
  const server = createServer((request, response) => {
    response.setHeader('content-type', 'application/json');
    response.end(JSON.stringify(answer(request)));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => void server.close());
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

function newFolder(): string {
  return mkdtempSync('/tmp/hummingbird-logins-');
}

async function readBucket(Prefix: string): Promise<Record<string, string>> {
  const endpoint = inject('s3Url');
  const client = new S3Client({ endpoint, forcePathStyle: true, region: 'us-east-1', credentials: S3_KEYS });
  const { Contents = [] } = await client.send(new ListObjectsV2Command({ Bucket: S3_BUCKET, Prefix }));
  const texts = await Promise.all(
    Contents.map(async ({ Key = '' }): Promise<[string, string]> => {
      const { Body } = await client.send(new GetObjectCommand({ Bucket: S3_BUCKET, Key }));
      return [Key.replace(/^.*\//, ''), toText(Key, (await Body?.transformToByteArray()) ?? Buffer.alloc(0))];
    }),
  );
  client.destroy();
  return Object.fromEntries(texts);
}
