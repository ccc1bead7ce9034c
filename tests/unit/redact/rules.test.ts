import { describe, expect, test } from 'vitest';
import { COMMAND_RULES } from '../../../src/redact/command-rules.ts';
import { CONTEXT_RULES } from '../../../src/redact/context-rules.ts';
import { createRedactor } from '../../../src/redact/redactor.ts';
import { TOKEN_RULES } from '../../../src/redact/token-rules.ts';
import { EXAMPLES, toLine } from './examples.ts';

const redact = (text: string): string => createRedactor({ secrets: [] }).text(text);

describe('a secret that is known by its shape or by what stands around it', () => {
  test.each(EXAMPLES.map((one) => [one.kind, toLine(one).split('\n')[0], one] as const))(
    '%s: %s',
    (kind, _, one) => {
      const { before = '', after = '', secret } = one;
      const breaks = secret.replaceAll(/[^\n]/g, '');
      expect(redact(`at 12:30 ${toLine(one)} it was`)).toBe(
        `at 12:30 ${before}[redacted: ${kind}]${breaks}${after} it was`,
      );
    },
  );

  test('has an example for every rule', () => {
    const shown = new Set(EXAMPLES.map(({ kind }) => kind));
    expect(
      [...TOKEN_RULES, ...CONTEXT_RULES, ...COMMAND_RULES].filter(({ kind }) => !shown.has(kind)),
    ).toEqual([]);
  });
});

describe('within a text that is quoted itself', () => {
  // A line of a log in JSON, as sessions and other logs have it.
  const inside = EXAMPLES.filter(({ secret }) => !secret.includes('\n'));
  test.each(inside.map((one) => [one.kind, toLine(one), one] as const))(
    '%s: %s',
    (_kind, line, { secret }) => {
      const quoted = JSON.stringify({ text: `at 12:30 ${line} it was` });
      const core = JSON.stringify(secret).slice(1, -1).slice(-12);
      expect(redact(quoted)).not.toContain(core);
    },
  );
});

describe('a colour or an escaped line end is no word, nor a part of one', () => {
  const npm = `npm${'_'}abcdefghijklmnopqrstuvwxyz0123456789`;
  const jwt = `eyJ${'hbGciOiJIUzI1NiJ9'}.eyJ${'zdWIiOiIxMjM0NTY3ODkwIn0'}.aB3xK9mQ2vR7tL5w`;
  test.each([
    ['\x1b[32m', npm, 'npm-token'],
    ['section_start:1:a\r\x1b[0K', npm, 'npm-token'],
    ['\x1b[1;38;5;214m', jwt, 'jwt'],
    ['\x1b(B', npm, 'npm-token'],
    ['[32m', npm, 'npm-token'],
    ['{"log":"x\\n', jwt, 'jwt'],
    ['{"log":"{\\"a\\":\\"x\\\\n', npm, 'npm-token'],
    ['{"log":"x\\t', npm, 'npm-token'],
    ['{"log":"x\\u000a', npm, 'npm-token'],
    ['{"log":"\\u001b[32m', npm, 'npm-token'],
    ['echo "\\033[0;32m', npm, 'npm-token'],
    ['password: \x1b[33m', 'hunter22xyz', 'named-secret'],
    ['\x1b[1mpassword\x1b[0m: \x1b[1m\x1b[33m', 'hunter22xyz', 'named-secret'],
    ['{"log":"password: \\u001b[33m', 'hunter22xyz', 'named-secret'],
    ['\x1b[36mpwd=', 'hunter22xyz', 'named-secret'],
    ['{"log":"x\\npwd=', 'hunter22xyz', 'named-secret'],
    ['docker login --password \x1b[33m', 'hunter22xyz', 'named-secret'],
    ['Authorization: \x1b[33mBearer ', 'aB3xK9mQ2vR7tL5w', 'authorization'],
  ])('%j', (before, secret, kind) => {
    expect(redact(`${before}${secret}\x1b[0m it was`)).toBe(`${before}[redacted: ${kind}]\x1b[0m it was`);
  });
});

describe('what only looks like something else is a secret', () => {
  test.each([
    ['Authorization: Bearer ', 'correct-horse-battery-staple'],
    ['password: ', '1.2.3-Zx81kQm2Pq9LsD'],
    ['token: ', '10.0.1-Zx81kQm2Pq9LsDvT'],
  ])('%s%s', (before, secret) => {
    expect(redact(before + secret)).toMatch(/^[\w: ]+\[redacted: [\w-]+\]$/);
  });
});

describe('what only looks like a secret stays', () => {
  const sha = '8f3c1a9be0d4527f6a1b0c9d8e7f6a5b4c3d2e1f';
  const hash = 'y1Kb0m9vQJx3pR7tL5wN8pD4sF6gH1jC0yZuE3iO7bXaB3xK9mQ2vR7tL5wN8pD4sF6gH1jC0yZuE3iO7bXaA==';
  test.each([
    `Checking out ${sha} as detached HEAD (ref is refs/merge-requests/7/head)...`,
    `commit ${sha}`,
    'Using docker image sha256:4bcff63911fcb4448bd4fdacec207030997caf25e9bea4045fa6c8c44de311d1 for node:24',
    'quay.io/team/app@sha256:4bcff63911fcb4448bd4fdacec207030997caf25e9bea4045fa6c8c44de311d1',
    `"integrity": "sha512-${hash}",`,
    'Job 12345678 of pipeline 987654321 failed with exit code 137',
    'request_id: 0f8fad5b-d9cb-469f-a165-70867728950e',
    'dist/assets/index-BxK9mQ2v.js   143.21 kB',
    'cache key: npm-3f9a1c07be52d84690aa',
    'Restoring cache CACHE_KEY=ruby-3f9a1c07be52d846',
    'PASS: tests/test_login1.sh',
    'PASSED tests/test_auth.py::test_token[1]',
    'password: $DB_PASSWORD',
    `password=$${'{{'} secrets.DB_PASSWORD1 }}`,
    'PASSWORD=***********',
    'token: [MASKED]',
    'token=<your-token-1>',
    'https://gitlab-ci-token:[MASKED]@gitlab.example.com/group/app.git',
    `https://oauth2:$${'{'}TOKEN}@gitlab.example.com/group/app.git`,
    'ssh://git@gitlab.example.com:2222/group/app.git',
    'git@gitlab.example.com:group/app.git',
    'docker://node:24@sha256:4bcff63911fcb4448bd4fdacec207030997caf25e9bea4045fa6c8c44de311d1',
    'pod/linuxapp-deployment-7c9d8b5f6-x2k4q is in CrashLoopBackOff',
    `ca: ${Buffer.from('-----BEGIN CERTIFICATE-----\nMIIDdzCCAl+gAwIBAgIEAgAAuTANBgkq').toString('base64')}`,
    `key: ${Buffer.from('-----BEGIN PUBLIC KEY-----\nMIIBIjANBgkqhkiG9w0BAQEFAAOCAQ8A').toString('base64')}`,
    'Authorization: [FILTERED], [user-1 is refused]',
    '"app_key": "shop-checkout-1"',
    '"one-time-password": "^1.2.3"',
    '+    "@octokit/auth-token": "5.1.2-beta.3"',
    'libsecret: 0.21.4-1build3',
    'com.example:access-token:1.2.3-SNAPSHOT was not found',
    "error: the password 'app' of user1 is refused",
    'https://packages.example.com/@babel%2fcore',
    'https://example.com:8443/a?mail=me@example.com',
    'max_tokens=4096, tokens: 12345678',
    'token_type: bearer',
    'secretName: app-tls-2',
    'password_file=/run/secrets/db_password1',
    'const password = process.env.DB_PASSWORD1;',
    'token = get_token1(user)',
    "const password = auth?.slice(auth.indexOf(':') + 1);",
    'PWD=/builds/group/app1',
    'System.Runtime, Version=8.0.0.0, Culture=neutral, PublicKeyToken=b03f5f7f11d50a3a',
    'error: invalid password for user "app1"',
    'Authorization: $AUTH_HEADER1',
    '-----BEGIN CERTIFICATE-----\nMIIDdzCCAl+gAwIBAgIEAgAAuTANBgkq\n-----END CERTIFICATE-----',
    'task-runner-with-a-very-long-name-1',
    'sk-SK locale, disk-usage-of-the-runner-is-high-today-1',
    'eyJhIjoxfQ== is {"a":1}',
    'npm_config_cache=/cache/npm npm_lifecycle_event=test',
    'Bearer authentication is required',
    'author: Nadia Rahman <nadia@example.com>',
    '\u001b[32mpassword: \u001b[33m$DB_PASSWORD1\u001b[0m',
    `my${'npm_'}abcdefghijklmnopqrstuvwxyz0123456789`,
    'section_start:1731921000:step_script\r\u001b[0K\u001b[0;m',
    'WWW-Authenticate: Bearer realm="registry"',
    'Authorization: Bearer authentication is required here',
    'Error: Bearer AuthenticationMiddlewareHandler was not registered',
    'Authorization: Token invalid-or-expired',
    'Authorization: Bearer invalid_token',
    'docker login -u ci -p $CI_REGISTRY_PASSWORD quay.io',
    'docker login --username ci --password-stdin quay.io',
    'ssh login@host -p 2222',
    'mysql -h db -P 3306 -p shop',
    'mysql -uroot -p"$MYSQL_PASSWORD" shop',
    'gcc -I/usr/include/mysql -pthread -pipe -pedantic -o mysql main.c',
    '/usr/bin/mysql --port=3306 -port=3306',
    'curl -sSu ci:$TOKEN https://x',
    'token: default-token-x7k2d',
    'namespace: team-a1-tenant secret: shop-pull-secret-7d9f8',
    'Mounts: /var/run/secrets from builder-dockercfg-x7k2d (ro), token: builder-dockercfg-x7k2d',
    '- name: DB_PASSWORD\n  valueFrom:\n    secretKeyRef: db',
    '- name: DB_PASSWORD\n  value: $(DB_PASSWORD1)',
    '- name: DB_PASSWORD\n- name: OTHER\n  value: production1',
  ])('%s', (line) => {
    expect(redact(line)).toBe(line);
  });
});

test('of the signature of a request all goes, also behind the id of a key', () => {
  const id = `AK${'IA'}QZXWJKVBPYGFMWUH`;
  const signature = '3f9a1c07be52d84690aa7c13ef08b4d2915c6e7f20ad83b4';
  const fields = `Credential=${id}/20261118/eu/s3/aws4_request, SignedHeaders=host;x-amz-date, Signature=${signature}`;
  const out = redact(`> Authorization: AWS4-HMAC-SHA256 ${fields}\n> Host: s3`);
  expect(out).toMatch(/^> Authorization: [^=]+\n> Host: s3$/);
});

test('a key whose end is missing does not take the rest of the log with it', () => {
  const text = `-----BEGIN ${'RSA'} PRIVATE KEY-----\nMIIEowIBAAKCAQEA2vR7tL5w\n[2 lines]\nerror: it broke\n`;
  expect(redact(text)).toBe('[redacted: private-key]\n\n[2 lines]\nerror: it broke\n');
});

describe('what stands behind the first line of a key', () => {
  const begin = `-----BEGIN ${'RSA'} PRIVATE KEY-----`;
  const end = `-----END ${'RSA'} PRIVATE KEY-----`;
  const line = 'MIIEowIBAAKCAQEA2vR7tL5wN8pD4sF6gH1jC0yZuE3iO7bXaB3xK9mQ2vR7tL5w';
  const gone = '[redacted: private-key]';

  test.each([
    [' is not in the log\nFAILED tests/test_key.py::test_a - AssertionError', undefined],
    ['\n    FAILED tests/test_key.py::test_a\n', undefined],
    ['\n\n\nerror: it broke at line 7\n', undefined],
    ['\nAssertionErrorInSomeTest was raised\n', undefined],
    ['\\nFAILED tests/test_key.py"}', undefined],
    [`\n${line}\n${line}\nmake: *** [test] Error 2\n`, '\n\n\nmake: *** [test] Error 2\n'],
  ])('stays when it is none of it: %j', (after, expected = after) => {
    expect(redact(`assert ${begin}${after}`)).toBe(`assert ${gone}${expected}`);
  });

  test.each([
    `\nProc-Type: 4,ENCRYPTED\nDEK-Info: AES-128-CBC,3F9A1C07BE52D846\n\n${line}\nab1=\n${end}`,
    `\\n${line}\\n${line}\\nab1=\\n${end}\\n`,
    `\\r\\n${line}\\r\\n${end}`,
    `%0A${line.slice(0, 40)}%2B${line}%0Aab1%3D%0A${end}`,
    ` ${line} ${line} ab1= ${end}`,
    `${line}${line}${end}`,
    `\n+${line}\n+ab1=\n+${end}`,
    `\n    ${line}\n    ab1=\n    ${end}`,
    `\n2026-11-18T09:30:00.1234567Z ${line}\n2026-11-18T09:30:00.1234567Z ${end}`,
    `\n${`${line}\n`.repeat(200)}${end}`,
    `\n${line}\n${line.slice(0, 20)}`,
  ])('goes with it: %j', (rest) => {
    const out = redact(`key: ${begin}${rest} it was`.replace(/(?<!-----(?:\\n)?) it was$/, ''));
    expect(out).toMatch(/^key: \[redacted: private-key\]\n*(?:(?:\\n)? it was)?$/);
  });

  test('is not without bound', () => {
    const out = redact(`${begin}\n${`${line}\n`.repeat(2_000)}`);
    expect(out.split('\n')).toHaveLength(2_002);
    expect(out).toContain(`\n${line}\n`);
  });
});

test('a name within the words that stand for a secret tells of nothing', () => {
  const once = redact(`gl${'pat'}-aB3xK9mQ2vR7tL5wN8pD = x9Kd82Lq0Z`);
  expect(once).toBe('[redacted: gitlab-token] = x9Kd82Lq0Z');
  expect(redact(once)).toBe(once);
});
