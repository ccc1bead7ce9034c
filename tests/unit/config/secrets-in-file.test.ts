import { describe, expect, it } from 'vitest';
import { errorOf, load, problemsOf } from './problems.ts';

const gitlabToken = 'glpat-abcDEF1234567890xyzw';
const isValue = 'this is the value of a secret, not the name of a variable';

describe('a secret where the name of a variable belongs', () => {
  it.each([
    gitlabToken,
    'sk-ant-api03-0000-not-a-real-key-0000',
    'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw',
    'hunter2',
    'correctHorseBatteryStaple',
  ])('is refused without being repeated: %s', (secret) => {
    const error = errorOf(() => load(`gitlab:\n  writeTokenEnv: ${secret}\n`));

    expect(error.problems).toMatchObject([{ path: 'gitlab.writeTokenEnv', line: 2, message: isValue }]);
    expect(error.message).not.toContain(secret);
  });

  it('is found in a list of names too', () => {
    expect(problemsOf(`webhook:\n  tokenEnvs:\n    - GOOD_NAME\n    - ${gitlabToken}\n`)).toMatchObject([
      { path: 'webhook.tokenEnvs[1]', line: 4, message: isValue },
    ]);
  });
});

describe('a secret anywhere else', () => {
  it.each([
    ['under an unknown key', `gitlab:\n  token: ${gitlabToken}\n`, 'gitlab.token'],
    [
      'as a valid text',
      `models:\n  main: [{ provider: gemini, model: ${gitlabToken} }]\n`,
      'models.main[0].model',
    ],
    [
      'inside a longer text',
      `store: { kind: s3, bucket: b,\n  prefix: "a/${gitlabToken}" }\n`,
      'store.prefix',
    ],
  ])('is one problem and is not repeated: %s', (_, text, path) => {
    const error = errorOf(() => load(text));

    expect(error.problems).toMatchObject([{ path, line: 2, message: 'a secret is written into the file' }]);
    expect(error.message).not.toContain(gitlabToken);
  });

  it.each(['gitlab', 'projects'])('is not repeated as a key of %s', (section) => {
    const error = errorOf(() => load(`${section}:\n  ${gitlabToken}: {}\n`));

    expect(error.problems).toMatchObject([{ path: `${section}['(a secret)']`, line: 2 }]);
    expect(error.message).not.toContain(gitlabToken);
  });

  it.each([
    `]${gitlabToken}`,
    `server: {}\n]\n"${gitlabToken}"`,
    `log: !${gitlabToken} x`,
    `log: |${gitlabToken}\n  x`,
    `%${gitlabToken}\n---\nlog: {}`,
  ])('is not repeated by a syntax error: %j', (text) => {
    const error = errorOf(() => load(text));

    expect(error.message).toContain('not valid YAML');
    expect(error.message).not.toContain(gitlabToken);
  });

  it('is a problem in an address', () => {
    const error = errorOf(() => load('gitlab: { url: "https://bot:hunter2@gitlab.example.com" }'));

    expect(error.problems).toMatchObject([{ path: 'gitlab.url', message: 'contains credentials' }]);
    expect(error.message).not.toContain('hunter2');
  });
});

describe('a password in the address of the queue', () => {
  it.each([
    'redis://:hunter2@redis:6379/0',
    'rediss://user:hunter2@redis:6379',
    'postgres://bot:hunter2@db/hummingbird',
    'postgresql://db/hummingbird?password=hunter2',
  ])('belongs into the environment: %s', (url) => {
    const error = errorOf(() => load(`queue:\n  url: ${url}\n`));

    expect(error.problems).toMatchObject([{ path: 'queue.url', line: 2, message: 'contains a password' }]);
    expect(error.problems[0]?.fix).toContain('HUMMINGBIRD_QUEUE_URL');
    expect(error.message).not.toContain('hunter2');
  });

  it.each([
    'redis://redis:6379/0',
    'rediss://user@redis:6379',
    'postgres://bot@db:5432/x',
    'pglite:/var/lib/db',
  ])('is not seen where there is none: %s', (url) => {
    expect(load(`queue: { url: "${url}" }`).queue.url).toBe(url);
  });
});
