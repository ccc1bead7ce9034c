import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { inspect } from 'node:util';
import { describe, expect, it, onTestFinished } from 'vitest';
import { readSecrets } from '../../../src/config/config.ts';
import { serviceAccountFile } from '../../services/google-account.ts';
import { errorOf, load } from './problems.ts';

const config = load('');
const token = 'a-webhook-token-of-some-length';
const key = Buffer.alloc(32, 7);
const signingToken = `whsec_${key.toString('base64')}`;

describe('what is needed', () => {
  it('comes out of the variables that the config names', () => {
    const custom = load('gitlab: { readTokenEnv: MY_READ, writeTokenEnv: MY_WRITE }');
    const env = { MY_READ: ' read\n', MY_WRITE: 'write', GITLAB_READ_TOKEN: 'not asked for' };

    const secrets = readSecrets(custom, { gitlabRead: true, gitlabWrite: true }, env);

    // What was asked for is typed as present.
    const tokens: string[] = [secrets.gitlabReadToken, secrets.gitlabWriteToken];
    expect(tokens).toEqual(['read', 'write']);
    expect(secrets.warnings).toEqual([]);
  });

  it('is reported with all that is missing at once, and how to make it', () => {
    const env = { GITLAB_READ_TOKEN: '  ', HUMMINGBIRD_QUEUE_URL: 'mysql://hunter2@db' };
    const needs = { gitlabRead: true, gitlabWrite: true, webhook: true, models: true };

    const error = errorOf(() => readSecrets(config, needs, env));

    expect(error.problems.map(({ path }) => path)).toEqual([
      'gitlab.readTokenEnv',
      'gitlab.writeTokenEnv',
      'webhook',
      'queue.urlEnv',
      'models.main[0].apiKeyEnv',
    ]);
    expect(error.message).toMatch(/GITLAB_READ_TOKEN is not set.*scope read_api/);
    expect(error.message).toMatch(/GITLAB_WRITE_TOKEN is not set.*scope api/);
    expect(error.message).toMatch(/ANTHROPIC_API_KEY or GEMINI_API_KEY is not set/);
    expect(error.message).not.toContain('hunter2');
  });

  it('is only what the caller asks for', () => {
    expect(readSecrets(config, {}, {})).toEqual({
      gitlabReadToken: undefined,
      gitlabWriteToken: undefined,
      markerKeys: [],
      webhookTokens: [],
      webhookSigningKeys: [],
      queueUrl: 'pglite:.hummingbird/db',
      modelKeys: new Map(),
      serviceAccounts: new Map(),
      konfluxTokens: new Map(),
      testingFarmToken: undefined,
      mcp: new Map(),
      environment: new Map(),
      warnings: [],
    });
  });
});

it('allows one token for reading and writing, with a warning that does not repeat it', () => {
  const env = { GITLAB_READ_TOKEN: 'glpat-same', GITLAB_WRITE_TOKEN: 'glpat-same' };

  const { warnings } = readSecrets(config, { gitlabRead: true, gitlabWrite: true }, env);

  expect(warnings).toEqual([expect.stringContaining('GITLAB_READ_TOKEN and GITLAB_WRITE_TOKEN')]);
  expect(warnings.join()).not.toContain('glpat-same');
});

describe('webhook secrets', () => {
  const read = (env: NodeJS.ProcessEnv) => readSecrets(config, { webhook: true }, env);

  it('are refused if there is none at all', () => {
    const { problems } = errorOf(() => read({ HUMMINGBIRD_WEBHOOK_TOKEN: '' }));

    expect(problems).toHaveLength(1);
    expect(problems[0]?.message).toMatch(/^no webhook secret: none of HUMMINGBIRD_WEBHOOK_TOKEN, /);
  });

  it('can be rotated: the new and the previous one are both accepted', () => {
    const env = { HUMMINGBIRD_WEBHOOK_TOKEN: token, HUMMINGBIRD_WEBHOOK_TOKEN_PREVIOUS: `${token}-old` };

    expect(read(env).webhookTokens).toEqual([token, `${token}-old`]);
  });

  it('can be a signing token alone, which comes out decoded', () => {
    const secrets = read({ HUMMINGBIRD_WEBHOOK_SIGNING_TOKEN_PREVIOUS: signingToken });

    expect(secrets.webhookTokens).toEqual([]);
    expect(secrets.webhookSigningKeys).toEqual([key]);
  });

  it('take a token of 16 characters', () => {
    expect(read({ HUMMINGBIRD_WEBHOOK_TOKEN: 'sixteen-letters!' }).webhookTokens).toEqual([
      'sixteen-letters!',
    ]);
  });

  it('take a signing key of 24 bytes, and none of 23', () => {
    const withBytes = (count: number) => `whsec_${Buffer.alloc(count, 1).toString('base64')}`;

    expect(read({ HUMMINGBIRD_WEBHOOK_SIGNING_TOKEN: withBytes(24) }).webhookSigningKeys[0]).toHaveLength(24);
    expect(() => read({ HUMMINGBIRD_WEBHOOK_SIGNING_TOKEN: withBytes(23) })).toThrow(/at least 24 bytes/);
  });

  it.each([
    ['a short token', { HUMMINGBIRD_WEBHOOK_TOKEN: 'fifteen-letters' }, 'webhook.tokenEnvs[0]'],
    [
      'no prefix',
      { HUMMINGBIRD_WEBHOOK_SIGNING_TOKEN: key.toString('base64') },
      'webhook.signingTokenEnvs[0]',
    ],
    [
      'no base64',
      { HUMMINGBIRD_WEBHOOK_SIGNING_TOKEN: `whsec_${'*'.repeat(44)}` },
      'webhook.signingTokenEnvs[0]',
    ],
  ])('are refused one by one, unrepeated, even if another is good: %s', (_, env, path) => {
    const error = errorOf(() => read({ HUMMINGBIRD_WEBHOOK_TOKEN_PREVIOUS: token, ...env }));

    expect(error.problems).toMatchObject([{ path }]);
    expect(error.message).toContain(Object.keys(env)[0]);
    expect(error.message).not.toContain(Object.values(env)[0]);
  });

  it('do not trouble a caller who takes no webhooks', () => {
    const env = { HUMMINGBIRD_WEBHOOK_TOKEN: 'short', HUMMINGBIRD_WEBHOOK_SIGNING_TOKEN: 'wrong' };

    expect(readSecrets(config, {}, env)).toMatchObject({ webhookTokens: [], webhookSigningKeys: [] });
  });
});

it('lets the environment win for the address of the queue, password and all', () => {
  const custom = load('queue: { url: "redis://redis:6379", urlEnv: MY_QUEUE }');

  expect(readSecrets(custom, {}, { MY_QUEUE: 'rediss://:pw@redis:6380' }).queueUrl).toBe(
    'rediss://:pw@redis:6380',
  );
  expect(readSecrets(custom, {}, { MY_QUEUE: '' }).queueUrl).toBe('redis://redis:6379');
});

it.each([
  ['redis://redis:6379/zero', 'is not an address of Redis'],
  ['redis://one:6379,two:6379', 'is not an address of Redis'],
  ['redis-cluster://redis:6379/1', 'is not an address of Redis'],
  ['redis-sentinel://redis:26379', 'is not an address of Redis'],
  ['redis://user:p%zz@redis:6379', 'is not an address of Redis'],
  ['rediss://redis:6379?ca=/nowhere/ca.pem', 'names a file with ?ca= that can not be read'],
])('refuses the address of a queue that no service could use: %s', (url, message) => {
  const custom = load('queue: { urlEnv: MY_QUEUE }');
  expect(errorOf(() => readSecrets(custom, {}, { MY_QUEUE: url })).problems).toMatchObject([
    { path: 'queue.urlEnv', message: `the value of MY_QUEUE ${message}` },
  ]);
});

describe('model keys', () => {
  const chains = load(`models:
  main:
    - { provider: anthropic, model: a }
    - { provider: openai, model: b, apiKeyEnv: OPENAI_API_KEY }
  side:
    - { provider: openai, model: c, baseUrl: "http://localhost:11434/v1" }
  prices: { a: &free { input: 0, output: 0 }, b: *free, c: *free }
`);

  it('may be missing where a chain has another model, with a warning', () => {
    const secrets = readSecrets(chains, { models: true }, { OPENAI_API_KEY: 'k' });

    expect(secrets.modelKeys).toEqual(new Map([['OPENAI_API_KEY', 'k']]));
    expect(secrets.warnings).toEqual([
      'ANTHROPIC_API_KEY is not set: models.main[0].apiKeyEnv is left out of the chain',
    ]);
  });

  it('may be missing for side calls altogether: the main chain does them too', () => {
    const secrets = readSecrets(config, { models: true }, { ANTHROPIC_API_KEY: 'k' });

    expect(secrets.warnings).toEqual([
      'GEMINI_API_KEY is not set: models.main[1].apiKeyEnv is left out of the chain',
    ]);
  });

  it('are a problem where the main chain has none, but not for a server without keys', () => {
    const { problems } = errorOf(() => readSecrets(chains, { models: true }, {}));

    expect(problems.map(({ path }) => path)).toEqual(['models.main[0].apiKeyEnv']);
    expect(problems[0]?.message).toContain('ANTHROPIC_API_KEY or OPENAI_API_KEY');
  });
});

describe('models on Vertex AI', () => {
  const vertex = (more = '') => `{ project: my-project, location: global ${more} }`;
  const named = load(
    `models: { main: [{ provider: gemini, model: gemini-2.5-pro, vertex: ${vertex(', credentialsEnv: ACCOUNT')} }] }`,
  );
  const account = {
    email: 'hummingbird@my-project.iam.gserviceaccount.com',
    keyId: 'key-1',
    privateKey: expect.stringContaining('PRIVATE KEY'),
    tokenUrl: 'https://tokens.example.com/token',
  };
  const file = serviceAccountFile('https://tokens.example.com');
  const without = (key: string) => JSON.stringify({ ...JSON.parse(file), [key]: undefined });
  const read = (value: string) => readSecrets(named, { models: true }, { ACCOUNT: value });

  it('need no key where the default credentials of Google are used', () => {
    const custom = load(
      `models: { main: [{ provider: anthropic, model: claude-opus-5, vertex: ${vertex()} }] }`,
    );

    expect(custom.models.main[0]?.apiKeyEnv).toBeUndefined();
    expect(readSecrets(custom, { models: true }, {})).toMatchObject({ warnings: [], modelKeys: new Map() });
  });

  it('take the key of a service account out of a variable, or of the file that it names', () => {
    const folder = mkdtempSync(join(tmpdir(), 'hummingbird-account-'));
    onTestFinished(() => rmSync(folder, { recursive: true }));
    writeFileSync(join(folder, 'key.json'), file);

    for (const value of [file, `\n${file}\n`, join(folder, 'key.json')])
      expect(read(value).serviceAccounts).toEqual(new Map([['ACCOUNT', account]]));
    expect(read(without('token_uri')).serviceAccounts.get('ACCOUNT')?.tokenUrl).toBe(
      'https://oauth2.googleapis.com/token',
    );
  });

  it('are left out where the variable is not set, which is a problem if there is no other', () => {
    const { problems } = errorOf(() => readSecrets(named, { models: true }, {}));

    expect(problems).toMatchObject([
      {
        path: 'models.main[0].vertex.credentialsEnv',
        message: expect.stringContaining('ACCOUNT is not set'),
      },
    ]);
  });

  it.each([
    ['a file that is not there', '/nowhere/key.json', 'neither JSON nor the path of a file'],
    ['half of the JSON', file.slice(0, 200), 'not a JSON object'],
    ['the key of a user', without('type'), 'type is missing or wrong'],
    ['no key', without('private_key'), 'private_key is missing or wrong'],
    ['a key with its lines lost', file.replaceAll('\\n', ''), 'private_key is missing or wrong'],
    ['an odd endpoint', file.replace('https://tokens', 'file://tokens'), 'token_uri is missing or wrong'],
  ])('are a problem with %s, none of which is repeated', (_, value, words) => {
    const error = errorOf(() => read(value));

    expect(error.problems).toMatchObject([
      {
        path: 'models.main[0].vertex.credentialsEnv',
        message: expect.stringMatching(`^the value of ACCOUNT .*${words}`),
        fix: expect.stringContaining('Application Default Credentials'),
      },
    ]);
    expect(inspect(error, { depth: 9 })).not.toMatch(/PRIVATE KEY|MII|gserviceaccount/);
  });
});

describe('tokens of other sources', () => {
  it('are needed where an address or a variable is named', () => {
    const custom = load(
      `sources:
         konflux:
           clusters:
             - { name: a, url: "https://k8s", namespaces: { "**": ns } }
             - { name: b, kubearchiveUrl: "https://archive", tokenEnv: OTHER, namespaces: { "**": ns } }
         testingFarm: { tokenEnv: FARM }`,
    );

    expect(
      errorOf(() => readSecrets(custom, { sources: true }, {})).problems.map(({ path }) => path),
    ).toEqual([
      'sources.konflux.clusters[0].tokenEnv',
      'sources.konflux.clusters[1].tokenEnv',
      'sources.testingFarm.tokenEnv',
    ]);
    const env = { KONFLUX_TOKEN: 'k', OTHER: 'o', FARM: 'f' };
    expect(readSecrets(custom, { sources: true }, env)).toMatchObject({
      konfluxTokens: new Map([
        ['KONFLUX_TOKEN', 'k'],
        ['OTHER', 'o'],
      ]),
      testingFarmToken: 'f',
    });
  });

  it('are needed by MCP servers that name them, and are kept by the name of the server', () => {
    const custom = load(`sources: { mcp: [
      { name: jira, url: "https://mcp", tokenEnv: JIRA, tools: [get] },
      { name: builds, command: builds-mcp, passEnvs: [BUILDS], tools: [get] } ] }`);

    expect(
      errorOf(() => readSecrets(custom, { sources: true }, {})).problems.map(({ path }) => path),
    ).toEqual(['sources.mcp[0].tokenEnv', 'sources.mcp[1].passEnvs']);
    expect(readSecrets(custom, { sources: true }, { JIRA: 'j', BUILDS: 'b' }).mcp).toEqual(
      new Map([
        ['jira', { token: 'j', env: {} }],
        ['builds', { token: undefined, env: { BUILDS: 'b' } }],
      ]),
    );
  });

  it('are not needed in the cluster itself, with a kubeconfig, nor where no variable is named', () => {
    const custom = load(
      `sources:
         konflux:
           clusters:
             - { name: a, inCluster: true, kubearchiveUrl: "https://archive", namespaces: { "**": ns } }
             - { name: b, kubeconfig: /etc/kubeconfig, namespaces: { "**": ns } }
         testingFarm: {}`,
    );

    expect(readSecrets(custom, { sources: true }, {})).toMatchObject({ konfluxTokens: new Map() });
  });
});
