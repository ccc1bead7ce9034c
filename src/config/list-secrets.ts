import { isWord, passwordsOf } from './environment-secrets.ts';
import type { Secrets } from './read-secrets.ts';

/** Every text the service must never pass on, also as parts of addresses. A new secret does not compile without its row. */
export function listSecrets(secrets: Secrets): string[] {
  const listed = Object.values(LISTS).flatMap((list) => list(secrets));
  return [...new Set(listed.filter((one) => one !== undefined && one !== ''))] as string[];
}

type Listed = string | undefined;

const LISTS: { [Name in keyof Secrets]-?: (secrets: Secrets) => Listed[] } = {
  gitlabReadToken: ({ gitlabReadToken }) => [gitlabReadToken],
  gitlabWriteToken: ({ gitlabWriteToken }) => [gitlabWriteToken],
  markerKeys: ({ markerKeys }) => markerKeys,
  webhookTokens: ({ webhookTokens }) => webhookTokens,
  // As it stands in the variable; its bytes are found in base64 and as hexadecimal digits of that.
  webhookSigningKeys: ({ webhookSigningKeys }) =>
    webhookSigningKeys.flatMap((key) => [
      key.toString('base64'),
      key.toString('hex'),
      key.toString('base64url'),
    ]),
  queueUrl: ({ queueUrl }) => passwordsOf(queueUrl),
  pgPassword: ({ pgPassword }) => [pgPassword],
  modelKeys: ({ modelKeys }) => [...modelKeys.values()],
  serviceAccounts: ({ serviceAccounts }) => [...serviceAccounts.values()].map(({ privateKey }) => privateKey),
  konfluxTokens: ({ konfluxTokens }) => [...konfluxTokens.values()],
  testingFarmToken: ({ testingFarmToken }) => [testingFarmToken],
  mcp: ({ mcp }) =>
    [...mcp.values()].flatMap(({ token, env }) => [
      token,
      ...Object.values(env).flatMap((value) => [isWord(value) ? undefined : value, ...passwordsOf(value)]),
    ]),
  s3Credentials: ({ s3Credentials }) => [
    s3Credentials?.accessKeyId,
    s3Credentials?.secretAccessKey,
    s3Credentials?.sessionToken,
  ],
  environment: ({ environment }) => environment,
  // Words for people.
  warnings: () => [],
};
