// One or more secrets of every kind, made up, and put together here so that no scanner takes this file for a leak.

export interface Example {
  kind: string;
  /** What stands before it. */
  before?: string;
  secret: string;
  after?: string;
}

const UPPER = 'QZXWJKVBPYGFMWUH';
const MIXED = 'aB3xK9mQ2vR7tL5wN8pD4sF6gH1jC0yZuE3iO7bX';
const LETTERS = 'aBcXkZmQqvRrTtLwWnNpDdFs';
const HEX = '3f9a1c07be52d84690aa7c13ef08b4d2915c6e7f20ad83b4';

export const TOKENS: readonly Example[] = [
  ...'pat dt rt rtr cbt ptt ft imt agent oas soat ffct wt'
    .split(' ')
    .map((name) => ({ kind: 'gitlab-token', secret: `gl${name}-${MIXED.slice(0, 20)}` })),
  { kind: 'gitlab-token', secret: `gl${'pat'}-${MIXED.slice(0, 27)}.01.${HEX.slice(0, 9)}` },
  { kind: 'gitlab-token', secret: `GR${'1348941'}${MIXED.slice(0, 20)}` },
  { kind: 'gitlab-session', before: 'a=b; ', secret: `_gitlab_${'session'}=${HEX.slice(0, 32)}` },
  { kind: 'github-token', secret: `gh${'p'}_${MIXED.slice(0, 36)}` },
  { kind: 'github-token', secret: `github_${'pat'}_${MIXED.slice(0, 22)}_${MIXED}` },
  { kind: 'atlassian-token', secret: `AT${'BB'}${MIXED.slice(0, 32)}` },
  { kind: 'atlassian-token', secret: `ATATT${'3'}${MIXED}=${HEX.slice(0, 8)}` },
  { kind: 'aws-key', secret: `AK${'IA'}${UPPER}` },
  { kind: 'google-key', secret: `AI${'za'}${MIXED.slice(0, 35)}` },
  { kind: 'google-token', secret: `ya${'29'}.${MIXED}` },
  { kind: 'google-secret', secret: `GOC${'SPX'}-${MIXED.slice(0, 28)}` },
  { kind: 'azure-secret', secret: `aB${'3'}8Q~${MIXED.slice(0, 34)}` },
  { kind: 'signed-url', before: 'https://s3/x?', secret: `X-Amz-${'Signature'}=${HEX}` },
  { kind: 'signed-url', before: 'https://s3/x?', secret: `X-Amz-Security-${'Token'}=${MIXED}%2F%3D` },
  { kind: 'signed-url', before: 'https://b/x?sv=1', secret: `&${'sig'}=${MIXED}%3D`, after: '&se=2' },
  { kind: 'digitalocean-token', secret: `do${'p_v1'}_${HEX}${HEX.slice(0, 16)}` },
  { kind: 'npm-token', secret: `npm${'_'}${MIXED.slice(0, 36)}` },
  { kind: 'pypi-token', secret: `pypi-${'AgE'}${MIXED}${MIXED}` },
  { kind: 'rubygems-token', secret: `rubygems${'_'}${HEX}` },
  { kind: 'nuget-key', secret: `oy${'2'}${HEX.slice(0, 43)}` },
  { kind: 'docker-token', secret: `dckr_${'pat'}_${MIXED.slice(0, 27)}` },
  {
    kind: 'docker-config',
    secret: Buffer.from(`{"auths":{"quay.io":{"auth":"${MIXED}"}}}`).toString('base64'),
  },
  { kind: 'artifactory-token', secret: `AK${'Cp'}${MIXED}${MIXED.slice(0, 24)}` },
  { kind: 'slack-token', secret: `xox${'b'}-123456789012-${MIXED.slice(0, 24)}` },
  { kind: 'slack-token', secret: `xap${'p'}-1-A${UPPER.slice(0, 10)}-12345-${HEX.slice(0, 8)}` },
  {
    kind: 'slack-webhook',
    before: 'https://',
    secret: `hooks.slack.com/services/T${UPPER}/B${UPPER}/${MIXED}`,
  },
  { kind: 'stripe-key', secret: `sk_${'live'}_${MIXED.slice(0, 24)}` },
  { kind: 'webhook-secret', secret: `whsec${'_'}${MIXED}=` },
  { kind: 'model-key', secret: `sk-${'ant'}-api03-${MIXED}${MIXED}` },
  { kind: 'model-key', secret: `sk-${MIXED}` },
  { kind: 'model-key', secret: `gsk${'_'}${MIXED}${MIXED.slice(0, 12)}` },
  { kind: 'huggingface-token', secret: `hf${'_'}${MIXED.slice(0, 34)}` },
  { kind: 'grafana-token', secret: `gl${'sa'}_${MIXED.slice(0, 32)}_${HEX.slice(0, 8)}` },
  { kind: 'vault-token', secret: `hv${'s'}.${MIXED}${MIXED}` },
  { kind: 'sendgrid-key', secret: `SG${'.'}${MIXED.slice(0, 22)}.${MIXED}` },
  { kind: 'databricks-token', secret: `da${'pi'}${HEX.slice(0, 32)}` },
  { kind: 'openshift-token', secret: `sha256${'~'}${MIXED}` },
  { kind: 'terraform-token', secret: `${MIXED.slice(0, 14)}.atlas${'v1'}.${MIXED}${MIXED}` },
  { kind: 'age-key', secret: `AGE-SECRET-${'KEY'}-1${UPPER}${UPPER}${UPPER}` },
  { kind: 'sonar-token', secret: `sq${'p'}_${HEX.slice(0, 40)}` },
  { kind: 'sentry-token', secret: `sntry${'s'}_${MIXED}` },
  { kind: 'cloudflare-token', secret: `cf${'ut'}_${MIXED}${HEX.slice(0, 8)}` },
  { kind: 'tailscale-key', secret: `ts${'key'}-auth-${MIXED}` },
  { kind: 'shopify-token', secret: `shp${'at'}_${HEX.slice(0, 32)}` },
  { kind: 'linear-key', secret: `lin_${'api'}_${MIXED}` },
  { kind: 'postman-key', secret: `PM${'AK'}-${HEX.slice(0, 24)}-${HEX.slice(0, 34)}` },
  { kind: 'newrelic-key', secret: `NR${'AK'}-${UPPER}${UPPER.slice(0, 11)}` },
  { kind: 'pulumi-token', secret: `pul${'-'}${HEX.slice(0, 40)}` },
  { kind: 'jwt', secret: `eyJ${'hbGciOiJIUzI1NiJ9'}.eyJ${'zdWIiOiIxMjM0NTY3ODkwIn0'}.${MIXED}` },
  { kind: 'jwt', secret: `eyJ${'hbGciOiJSU0EtT0FFUCJ9'}.${MIXED}.${UPPER}.${MIXED}.${UPPER}` },
  { kind: 'private-key', secret: toPem('RSA PRIVATE KEY') },
  { kind: 'private-key', secret: toPem('OPENSSH PRIVATE KEY').replaceAll('\n', '\\n') },
  {
    kind: 'private-key',
    secret: toPem('ENCRYPTED PRIVATE KEY').replaceAll('\n', '\n2026-11-18T09:30:00.000000Z 01O '),
  },
  {
    kind: 'private-key',
    before: '    client-key-data: ',
    secret: Buffer.from(`-----BEGIN RSA PRIVATE KEY-----\n${MIXED}\n`).toString('base64'),
    after: '\n    token: x',
  },
];

export const IN_CONTEXT: readonly Example[] = [
  {
    kind: 'url-credentials',
    before: 'git clone https://',
    secret: 'ci-bot:s3cr3t.pass',
    after: '@git.example.com/x.git',
  },
  { kind: 'url-credentials', before: 'redis://', secret: ':hunter', after: '@cache:6379/0' },
  { kind: 'url-credentials', before: 'postgres://', secret: 'app:p@ss{w}ord', after: '@db/app' },
  { kind: 'url-credentials', before: 'https://', secret: MIXED, after: '@git.example.com/x' },
  { kind: 'authorization', before: 'Authorization: Bearer ', secret: MIXED },
  { kind: 'authorization', before: '> authorization: Basic ', secret: 'dXNlcjpwYXNzd29yZA==' },
  { kind: 'authorization', before: 'map[Authorization:[Basic ', secret: 'dXNlcjpwYXNz', after: ']]' },
  { kind: 'authorization', before: '"Authorization": ["Basic ', secret: 'dXNlcjpwYXNz', after: '"]' },
  { kind: 'authorization', before: "-H 'Proxy-Authorization: Token ", secret: HEX, after: "'" },
  { kind: 'authorization', before: 'with bearer ', secret: `${HEX}.x` },
  { kind: 'cookie', before: 'Cookie: ', secret: `sid=${HEX}; theme=dark`, after: '\n' },
  { kind: 'login', before: 'curl -sS -u ', secret: 'admin:letmein', after: ' https://x' },
  { kind: 'login', before: 'machine git.example.com login bot password ', secret: 'letmein' },
  { kind: 'authorization', before: 'Authorization: Bearer ', secret: LETTERS },
  { kind: 'authorization', before: 'authorization: bearer ', secret: LETTERS.toLowerCase(), after: "'" },
  { kind: 'authorization', before: 'sent bearer ', secret: LETTERS },
  {
    kind: 'authorization',
    before: 'Authorization: Digest ',
    secret: `username="app", realm="x", response="${HEX.slice(0, 32)}"`,
    after: '\n',
  },
  { kind: 'login', before: "curl -sSu '", secret: 'admin:let me in', after: "' x" },
  { kind: 'login', before: 'curl -X POST \\\n  -u', secret: 'admin:letmein', after: ' \\\n https://x' },
  { kind: 'login', before: 'docker login -u ci -p ', secret: 'letmein', after: ' quay.io' },
  { kind: 'login', before: "podman login quay.io -p '", secret: 'let me in', after: "' -u ci" },
  { kind: 'login', before: '$ oc login -u kubeadmin -p=', secret: 'AAAAA-BBBBB', after: ' https://api' },
  { kind: 'login', before: 'mysql -uroot -p', secret: 'letmein', after: ' shop' },
  { kind: 'login', before: "/usr/bin/mysqldump -h db -p'", secret: 'let me in', after: "' shop" },
  { kind: 'login', before: 'sshpass -p ', secret: 'letmein', after: ' ssh host' },
  { kind: 'login', before: 'redis-cli -h cache -a ', secret: 'letmein', after: ' ping' },
  { kind: 'login', before: 'mongosh -u app -p ', secret: 'letmein', after: ' db' },
  { kind: 'login', before: 'ldapsearch -x -w ', secret: 'letmein', after: ' -b dc=x' },
  { kind: 'login', before: 'keytool -list -storepass ', secret: 'letmein', after: ' -v' },
  { kind: 'named-secret', before: '{"name":"DB_PASSWORD","value":"', secret: 'hunter2x', after: '"}' },
  {
    kind: 'named-secret',
    before: '{\n  "key": "API_TOKEN",\n  "value": "',
    secret: MIXED.slice(0, 16),
    after: '"\n}',
  },
  {
    kind: 'named-secret',
    before: '{"e":"{\\"name\\":\\"DB_PASSWORD\\",\\"value\\":\\"',
    secret: 'hunter2x',
    after: '\\"}"}',
  },
  { kind: 'named-secret', before: '  - name: DB_PASSWORD\n    value: ', secret: 'hunter2x', after: '\n' },
  { kind: 'named-secret', before: "- name: 'DB_PASSWORD'\n  value: '", secret: 'hunter2x', after: "'\n" },
  {
    kind: 'named-secret',
    before: '- name: DB_PASSWORD\n2026-11-18T09:30:00.000000Z 01O   value: ',
    secret: 'hunter2x',
    after: '\n',
  },
  {
    kind: 'named-secret',
    before: '<name>DB_PASSWORD</name>\n<value>',
    secret: 'hunter2x',
    after: '</value>',
  },
  { kind: 'named-secret', before: "CREATE USER app WITH PASSWORD '", secret: 'hunter2', after: "'" },
  { kind: 'docker-auth', before: '{"auth": "', secret: 'dXNlcjpwYXNzd29yZDE=', after: '"}' },
  { kind: 'named-secret', before: 'DB_PASSWORD=', secret: 'hunter2' },
  { kind: 'named-secret', before: 'DB_PASSWORD_STAGING=', secret: 'hunter2' },
  { kind: 'named-secret', before: 'password: ', secret: '2024.11-Sommer' },
  { kind: 'named-secret', before: 'SECRET_KEY_BASE=', secret: HEX },
  { kind: 'named-secret', before: 'APP_KEY=', secret: `base64:${MIXED}=` },
  { kind: 'named-secret', before: 'password: "', secret: 'correct-horse!', after: '"' },
  { kind: 'named-secret', before: '{"client_secret":"', secret: MIXED.slice(0, 16), after: '"}' },
  { kind: 'named-secret', before: '{\\"apiKey\\": \\"', secret: HEX.slice(0, 32), after: '\\"}' },
  { kind: 'named-secret', before: '{"a":"password: \\"', secret: 'other-horse!', after: '\\" was said"}' },
  {
    kind: 'named-secret',
    before: 'AWS_SECRET_ACCESS_KEY = ',
    secret: `${MIXED.slice(0, 20)}/${MIXED.slice(0, 19)}`,
  },
  { kind: 'named-secret', before: 'docker login --password ', secret: 'Tr0ub4dor', after: ' quay.io' },
  { kind: 'named-secret', before: 'GET /x?private_token=', secret: MIXED.slice(0, 20), after: '&page=2' },
  { kind: 'named-secret', before: '<password>', secret: 'hunter2', after: '</password>' },
  {
    kind: 'named-secret',
    before: '//npm.example.com/:_authToken=',
    secret: '1f0c9a4e-2b77-4d1e-9b1a-77aa01c2d3e4',
  },
  { kind: 'named-secret', before: 'export DEPLOY_TOKEN=', secret: MIXED.slice(0, 20), after: ';' },
];

export const EXAMPLES = [...TOKENS, ...IN_CONTEXT];

export function toLine({ before = '', secret, after = '' }: Example): string {
  return before + secret + after;
}

function toPem(name: string): string {
  const body = Array.from({ length: 6 }, () => `${MIXED}${MIXED.slice(0, 24)}`).join('\n');
  return `-----BEGIN ${name}-----\n${body}\nab12==\n-----END ${name}-----`;
}
