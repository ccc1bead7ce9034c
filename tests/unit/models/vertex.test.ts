// Models on Vertex AI: the way there, and Google's credentials. What a turn is, the contract says.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { inspect } from 'node:util';
import { AnthropicVertex } from '@anthropic-ai/vertex-sdk';
import {
  afterAll,
  afterEach,
  beforeAll,
  beforeEach,
  describe,
  expect,
  onTestFinished,
  test,
  vi,
} from 'vitest';
import type { Learn } from '../../../src/learn.ts';
import { createAnthropicModel } from '../../../src/models/anthropic.ts';
import { signedByUs, vertexUrl } from '../../../src/models/vertex.ts';
import { ACCESS_TOKEN, serviceAccount } from '../../services/google-account.ts';
import { failWith, startWire, type Wire } from '../../services/model-wire.ts';
import { answerJson, startServer } from '../gitlab/gitlab-server.ts';
import { onVertex, vertexAt } from './adapters.ts';
import { assistant, requestOf, result, user } from './requests.ts';

let wire: Wire;
beforeAll(async () => {
  wire = await startWire();
});
beforeEach(() => {
  wire.reset();
  wire.mock.on({}, { content: 'ok' });
});
afterEach(() => vi.unstubAllEnvs());
afterAll(() => wire.close());

const [anthropic, gemini] = onVertex;
const ask = requestOf([user('why?')]);

test('Claude is asked under its project and location, the version in the body and the breakpoints kept', async () => {
  const request = requestOf([user('why?'), assistant('', 'c1'), result('c1')]);

  await anthropic?.create(wire.url, { thinking: 'high' }).generate(request);

  const { path, headers, body } = wire.last();
  expect(path).toBe(
    '/v1/projects/my-project/locations/europe-west1/publishers/anthropic/models/claude-sonnet-4-5@20250929:streamRawPredict',
  );
  expect(headers.authorization).toBe(`Bearer ${ACCESS_TOKEN}`);
  expect(headers).not.toHaveProperty('x-api-key');
  expect(headers).not.toHaveProperty('anthropic-version');
  expect(body).toEqual({
    anthropic_version: '2026-10-21',
    stream: true,
    max_tokens: 1234,
    system: 'You are Hummingbird.',
    tools: request.tools.map(({ name, description, inputSchema }) => ({
      name,
      description,
      input_schema: inputSchema,
    })),
    thinking: { type: 'adaptive', display: 'summarized' },
    output_config: { effort: 'high' },
    messages: [
      { role: 'user', content: [{ type: 'text', text: 'why?' }] },
      {
        role: 'assistant',
        content: [{ type: 'tool_use', id: 'c1', name: 'sandbox_exec', input: { command: 'c1' } }],
      },
      {
        role: 'user',
        content: [
          {
            type: 'tool_result',
            tool_use_id: 'c1',
            content: '{"exit_code":0}',
            is_error: false,
            cache_control: { type: 'ephemeral' },
          },
        ],
      },
    ],
  });
});

test('Gemini is asked under its project and location', async () => {
  await gemini?.create(wire.url, { thinking: 'high' }).generate(ask);

  const { path, headers, body } = wire.last();
  expect(path).toBe(
    '/v1/projects/my-project/locations/europe-west1/publishers/google/models/gemini-3.8-flash:streamGenerateContent?alt=sse',
  );
  expect(headers.authorization).toBe(`Bearer ${ACCESS_TOKEN}`);
  expect(headers).not.toHaveProperty('x-goog-api-key');
  expect(body).toEqual({
    systemInstruction: { role: 'user', parts: [{ text: 'You are Hummingbird.' }] },
    contents: [{ role: 'user', parts: [{ text: 'why?' }] }],
    tools: [
      {
        functionDeclarations: ask.tools.map(({ name, description, inputSchema }) => ({
          name,
          description,
          parametersJsonSchema: inputSchema,
        })),
      },
    ],
    generationConfig: {
      maxOutputTokens: 1234,
      thinkingConfig: { includeThoughts: true, thinkingLevel: 'HIGH' },
    },
  });
});

test.each(['global', 'us', 'eu', 'europe-west1', 'us-east5'])(
  'models in %s are where the SDK expects them',
  (location) => {
    vi.stubEnv('ANTHROPIC_VERTEX_BASE_URL', undefined);
    const sdk = new AnthropicVertex({ region: location, projectId: 'p', authClient: signedByUs });

    expect(`${vertexUrl({ location })}/v1`).toBe(sdk.baseURL);
  },
);

test('the key of the service account is exchanged for a token, once for all requests', async () => {
  const model = anthropic?.create(wire.url);

  await model?.generate(ask);
  await model?.generate(ask);

  expect(wire.sent).toHaveLength(2);
  expect(wire.tokenRequests).toHaveLength(1);
  const [, claims = ''] = wire.tokenRequests[0]?.get('assertion')?.split('.') ?? [];
  expect(JSON.parse(Buffer.from(claims, 'base64url').toString())).toMatchObject({
    iss: 'hummingbird@my-project.iam.gserviceaccount.com',
    scope: 'https://www.googleapis.com/auth/cloud-platform',
    aud: 'https://oauth2.googleapis.com/token',
  });
});

test('what is sent and answered on the way to a token is told before it is used', async () => {
  const told: string[] = [];
  const toldInTime: boolean[] = [];
  const vertex = { ...vertexAt(wire.url), learn: (secrets: readonly string[]) => void told.push(...secrets) };
  const model = createAnthropicModel({ model: 'claude-sonnet-5-5', vertex, baseUrl: wire.url });
  wire.replyToken((response, { body }) => {
    toldInTime.push(told.includes((body as { assertion: string }).assertion));
    return failWith(200, { access_token: ACCESS_TOKEN, expires_in: 3599 })(response, wire.last());
  });
  wire.reply((response, sent) => {
    toldInTime.push(told.includes(ACCESS_TOKEN));
    return failWith(400, {})(response, sent);
  });

  await expect(model.generate(ask)).rejects.toThrow();

  expect(toldInTime).toEqual([true, true]);
});

describe.each(onVertex)('$name: the token endpoint', ({ create }) => {
  test.each([
    [400, { error: 'invalid_grant', error_description: 'Invalid JWT Signature.' }, 'switch'],
    [401, { error: 'invalid_client', error_description: 'The account was deleted.' }, 'switch'],
    [403, { error: 'access_denied', error_description: 'Blocked by a policy.' }, 'switch'],
    [429, { error: 'rate_limit_exceeded', error_description: 'Slow down.' }, 'retry'],
    [503, { error: 'unavailable', error_description: 'Try later.' }, 'retry'],
  ])('that answers %i %o means %s, after one attempt', async (status, body, kind) => {
    wire.replyToken(failWith(status, body));

    const failure = create(wire.url).generate(ask);

    await expect(failure).rejects.toMatchObject({
      name: 'ModelError',
      kind,
      message: expect.stringMatching(`\\(${status}\\) .*${body.error}: ${body.error_description}`),
    });
    expect(wire.tokenRequests).toHaveLength(1);
    expect(wire.sent).toEqual([]);
  });

  test.each([
    ['nothing in it', '{}'],
    ['a page of somebody else', '<html>sign in</html>'],
  ])('that answers with %s may answer better later', async (_what, page) => {
    wire.replyToken((response) => void response.end(page));

    await expect(create(wire.url).generate(ask)).rejects.toMatchObject({ kind: 'retry' });
    expect(wire.sent).toEqual([]);
  });

  test('that hangs up may answer later', async () => {
    wire.replyToken((response) => void response.destroy());

    await expect(create(wire.url).generate(ask)).rejects.toMatchObject({
      kind: 'retry',
      message: expect.stringContaining('no token from Google'),
      unbilled: true,
    });
  });

  test('that is silent is given up, and asked anew the next time', async () => {
    const model = create(wire.url, { silenceMs: 200 });
    wire.replyToken(() => undefined);

    await expect(model.generate(ask)).rejects.toMatchObject({
      kind: 'retry',
      message: expect.stringContaining('silent'),
    });
    expect(await model.generate(ask)).toMatchObject({ message: { content: 'ok' } });

    expect(wire.tokenRequests).toHaveLength(2);
  });

  test('that is silent does not hold up an abort', async () => {
    const controller = new AbortController();
    const reason = new Error('the merge request was closed');
    wire.replyToken(() => controller.abort(reason));

    const failure = create(wire.url).generate({ ...ask, signal: controller.signal });

    await expect(failure).rejects.toBe(reason);
  });

  test('that repeats what it was sent tells nobody through the error', async () => {
    wire.replyToken((response, sent) => {
      const { assertion } = sent.body;
      failWith(400, { error: 'invalid_grant', error_description: `odd: ${assertion}` })(response, sent);
    });

    const error = await create(wire.url)
      .generate(ask)
      .catch((thrown: unknown) => thrown);

    const told = inspect(error, { depth: Number.POSITIVE_INFINITY, showHidden: true });
    expect(told).toContain('invalid_grant: odd: [api key]');
    expect(told).not.toContain(wire.tokenRequests[0]?.get('assertion'));
    expect(told).not.toContain('PRIVATE KEY');
  });
});

describe.each(onVertex)('$name: an error of the endpoint', ({ create, provider }) => {
  const body = (code: number, message: string) => [
    { error: { code, message, status: 'RESOURCE_EXHAUSTED' } },
  ];

  test.each([
    [429, 'retry', 'Quota exceeded for aiplatform.googleapis.com/online_prediction_requests_per_base_model.'],
    [403, 'switch', "Permission 'aiplatform.endpoints.predict' denied."],
    [404, 'switch', 'Publisher Model was not found or your project does not have access to it.'],
  ])('%i in the words of Google means %s', async (status, kind, message) => {
    wire.reply(failWith(status, body(status, message)));

    await expect(create(wire.url).generate(ask)).rejects.toMatchObject({
      kind,
      message: `${provider} answered ${status}: ${message}`,
    });
  });
});

test('a private key that is none is not told either', async () => {
  const broken = serviceAccount(wire.url).privateKey.replace(/[A-Z]/g, 'x');
  const vertex = {
    ...vertexAt(wire.url),
    serviceAccount: { ...serviceAccount(wire.url), privateKey: broken },
  };
  const model = createAnthropicModel({ model: 'claude-sonnet-5-5', vertex, baseUrl: wire.url });

  const error = await model.generate(ask).catch((thrown: unknown) => thrown);

  expect(error).toMatchObject({
    kind: 'switch',
    message: expect.stringContaining('credentials do not work'),
    unbilled: true,
  });
  expect(inspect(error, { depth: Number.POSITIVE_INFINITY })).not.toContain(broken.split('\n')[1]);
});

describe('without a service account', () => {
  const model = (learn: Learn = () => undefined) =>
    createAnthropicModel({
      model: 'claude-sonnet-5-5',
      vertex: { project: 'my-project', location: 'global', learn },
      baseUrl: wire.url,
    });

  test('the Application Default Credentials are used', async () => {
    const folder = emptyFolder();
    writeFileSync(join(folder, 'identity'), 'token-of-the-cluster');
    const file = join(folder, 'credentials.json');
    const federation = {
      type: 'external_account',
      audience: '//iam.googleapis.com/projects/1/locations/global/workloadIdentityPools/p/providers/c',
      subject_token_type: 'urn:ietf:params:oauth:token-type:jwt',
      token_url: `${wire.url}/token`,
      credential_source: { file: join(folder, 'identity') },
    };
    writeFileSync(file, JSON.stringify(federation));
    vi.stubEnv('GOOGLE_APPLICATION_CREDENTIALS', file);
    wire.replyToken(failWith(200, { access_token: 'federated', token_type: 'Bearer', expires_in: 3600 }));

    await model().generate(ask);

    expect(wire.tokenRequests[0]?.get('subject_token')).toBe('token-of-the-cluster');
    expect(wire.last().headers.authorization).toBe('Bearer federated');
    expect(wire.last().path).toContain('/v1/projects/my-project/locations/global/');
  });

  test('of a machine at AWS its keys are told, and of the request that is signed with them nothing', async () => {
    const keys = { AccessKeyId: 'ASIAEXAMPLE', SecretAccessKey: 'of-the-role-1', Token: 'of-its-session-1' };
    const told: string[] = [];
    const aws = await startServer(({ path }, response) => {
      if (path === '/session') response.end('of-the-machine-1');
      else if (path === '/region') response.end('eu-west-1b');
      else if (path === '/role') response.end('agent');
      else answerJson(response, keys);
    });
    const file = join(emptyFolder(), 'credentials.json');
    const federation = {
      type: 'external_account',
      audience: '//iam.googleapis.com/projects/1/locations/global/workloadIdentityPools/p/providers/a',
      subject_token_type: 'urn:ietf:params:aws:token-type:aws4_request',
      token_url: `${wire.url}/token`,
      credential_source: {
        environment_id: 'aws1',
        region_url: `${aws.url}/region`,
        url: `${aws.url}/role`,
        imdsv2_session_token_url: `${aws.url}/session`,
        regional_cred_verification_url:
          'https://sts.{region}.amazonaws.com?Action=GetCallerIdentity&Version=2011-06-15',
      },
    };
    writeFileSync(file, JSON.stringify(federation));
    vi.stubEnv('GOOGLE_APPLICATION_CREDENTIALS', file);
    wire.replyToken(failWith(200, { access_token: 'federated', token_type: 'Bearer', expires_in: 3600 }));

    await model((secrets) => void told.push(...secrets)).generate(ask);

    expect(wire.tokenRequests[0]?.get('subject_token')).toContain('of-its-session-1');
    expect([...new Set(told)].sort()).toEqual([
      'federated',
      'of-its-session-1',
      'of-the-machine-1',
      'of-the-role-1',
    ]);
  });

  test.each([
    ['are nowhere', undefined, 'Could not load the default credentials'],
    ['are not where the environment says', '/nowhere.json', '/nowhere.json'],
  ])('and with default ones that %s, another model has to do', async (_what, file, words) => {
    vi.stubEnv('GOOGLE_APPLICATION_CREDENTIALS', file);
    vi.stubEnv('CLOUDSDK_CONFIG', emptyFolder());
    // Nothing is asked whether this machine is one of Google's.
    vi.stubEnv('METADATA_SERVER_DETECTION', 'none');

    await expect(model().generate(ask)).rejects.toMatchObject({
      kind: 'switch',
      message: expect.stringContaining(words),
    });
    expect(wire.sent).toEqual([]);
  });
});

function emptyFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'hummingbird-vertex-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  return folder;
}
