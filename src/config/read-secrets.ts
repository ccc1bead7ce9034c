import { checkPrices } from './find-price.ts';
import { ConfigError, type Problem } from './problem.ts';
import { type McpSecrets, readMcpSecrets } from './read-mcp-secrets.ts';
import { type ModelKeys, readModelKeys } from './read-model-keys.ts';
import { readS3Credentials, type S3Credentials } from './read-s3-credentials.ts';
import { readWebhookSecrets } from './read-webhook-secrets.ts';
import type { Config } from './schema.ts';
import { needsToken } from './sections/konflux.ts';
import { findQueueUrlFlaw } from './sections/queue.ts';

/** What the caller can not do without; everything else is read if it is there. */
export type SecretNeeds = {
  webhook?: boolean;
  gitlabRead?: boolean;
  gitlabWrite?: boolean;
  models?: boolean;
  sources?: boolean;
  store?: boolean;
};

export type Secrets<Needs extends SecretNeeds = SecretNeeds> = ModelKeys & {
  gitlabReadToken: Needed<Needs['gitlabRead']>;
  gitlabWriteToken: Needed<Needs['gitlabWrite']>;
  /** They sign the marks in the agent's notes; the first one signs, all are believed. */
  markerKeys: string[];
  /** Every one of them is accepted, so that a secret can be rotated without a gap. */
  webhookTokens: string[];
  webhookSigningKeys: Buffer[];
  /** What the variable says or, if it is not set, the file. */
  queueUrl: string;
  /** Which the client of PostgreSQL takes when the address has none. */
  pgPassword: string | undefined;
  /** By the name of their variable. */
  konfluxTokens: ReadonlyMap<string, string>;
  testingFarmToken: string | undefined;
  /** Undefined when the SDK is to find them. */
  s3Credentials: S3Credentials | undefined;
  mcp: McpSecrets;
  /** All of it, whoever it is for: libraries read some of it by themselves. */
  environment: ReadonlyMap<string, string>;
  warnings: string[];
};

type Needed<Need> = Need extends true ? string : string | undefined;

/** Collects the secrets that the config names; throws with all that are needed and missing or malformed. */
export function readSecrets<const Needs extends SecretNeeds>(
  config: Config,
  needs: Needs,
  env: NodeJS.ProcessEnv = process.env,
): Secrets<Needs> {
  const read = (name: string) => env[name]?.trim() || undefined;
  const webhook = readWebhookSecrets(config.webhook, read);
  const { modelKeys, serviceAccounts, ...models } = readModelKeys(config, read);
  const mcp = readMcpSecrets(config, read);
  const s3 = readS3Credentials(config, read);
  const queueUrl = read(config.queue.urlEnv) ?? config.queue.url;
  const secrets: Secrets = {
    gitlabReadToken: read(config.gitlab.readTokenEnv),
    gitlabWriteToken: read(config.gitlab.writeTokenEnv),
    markerKeys: read(config.gitlab.markerKeyEnv)?.split(/\s+/) ?? [],
    webhookTokens: webhook.tokens,
    webhookSigningKeys: webhook.signingKeys,
    queueUrl,
    pgPassword: /^postgres/.test(queueUrl) ? read('PGPASSWORD') : undefined,
    modelKeys,
    serviceAccounts,
    konfluxTokens: readKonfluxTokens(config, read),
    testingFarmToken: config.sources.testingFarm?.tokenEnv && read(config.sources.testingFarm.tokenEnv),
    mcp: mcp.secrets,
    s3Credentials: s3.credentials,
    environment: new Map(Object.entries(env).map(([name, value]) => [name, value?.trim() ?? ''])),
    warnings: [],
  };
  const problems = [
    ...(needs.gitlabRead ? checkGitlabToken(config, secrets, 'read') : []),
    ...(needs.gitlabWrite ? checkGitlabToken(config, secrets, 'write') : []),
    ...(needs.webhook ? webhook.problems : []),
    ...checkQueueUrl(config, secrets),
    ...(needs.models ? [...models.problems, ...checkPrices(config, read)] : []),
    ...(needs.store ? s3.problems : []),
    ...(needs.sources ? [...checkSourceTokens(config, secrets), ...mcp.problems] : []),
  ];
  if (problems.length > 0) throw new ConfigError('The environment', problems);
  const warnings = [...warnOfOneToken(config, secrets), ...(needs.models ? models.warnings : [])];
  // What is needed is there: its absence was a problem above.
  return { ...secrets, warnings } as Secrets<Needs>;
}

function checkGitlabToken({ gitlab }: Config, secrets: Secrets, kind: 'read' | 'write'): Problem[] {
  const token = kind === 'read' ? secrets.gitlabReadToken : secrets.gitlabWriteToken;
  if (token !== undefined) return [];
  const name = kind === 'read' ? gitlab.readTokenEnv : gitlab.writeTokenEnv;
  const scope = kind === 'read' ? 'read_api' : 'api';
  return [
    {
      path: `gitlab.${kind}TokenEnv`,
      message: `the environment variable ${name} is not set`,
      fix: `make an access token with the scope ${scope} (in GitLab: Settings, Access tokens) and put it into ${name}`,
    },
  ];
}

function checkQueueUrl({ queue }: Config, { queueUrl }: Secrets): Problem[] {
  const flaw = findQueueUrlFlaw(queueUrl);
  if (!flaw) return [];
  const { message, fix } = flaw;
  return [{ path: 'queue.urlEnv', message: `the value of ${queue.urlEnv} ${message}`, fix }];
}

function readKonfluxTokens({ sources }: Config, read: (name: string) => string | undefined) {
  const names = (sources.konflux?.clusters ?? []).map(({ tokenEnv }) => tokenEnv);
  return new Map(
    names.flatMap((name): [string, string][] => {
      const token = read(name);
      return token === undefined ? [] : [[name, token]];
    }),
  );
}

function checkSourceTokens({ sources: { konflux, testingFarm } }: Config, secrets: Secrets): Problem[] {
  const problems: Problem[] = [];
  for (const [index, cluster] of (konflux?.clusters ?? []).entries()) {
    if (!needsToken(cluster) || secrets.konfluxTokens.has(cluster.tokenEnv)) continue;
    problems.push({
      path: `sources.konflux.clusters[${index}].tokenEnv`,
      message: `the environment variable ${cluster.tokenEnv} is not set`,
      fix: `make a token of a service account that may only read and put it into ${cluster.tokenEnv}`,
    });
  }
  const farmEnv = testingFarm?.tokenEnv;
  if (farmEnv !== undefined && secrets.testingFarmToken === undefined) {
    problems.push({
      path: 'sources.testingFarm.tokenEnv',
      message: `the environment variable ${farmEnv} is not set`,
      fix: `put the API token of Testing Farm into ${farmEnv}, or remove tokenEnv`,
    });
  }
  return problems;
}

function warnOfOneToken({ gitlab }: Config, { gitlabReadToken, gitlabWriteToken }: Secrets): string[] {
  if (gitlabReadToken === undefined || gitlabReadToken !== gitlabWriteToken) return [];
  return [
    `${gitlab.readTokenEnv} and ${gitlab.writeTokenEnv} hold the same token: whatever reads could also write; ` +
      'make a separate one with the scope read_api for reading',
  ];
}
