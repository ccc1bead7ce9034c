import { loginsOf } from '../address-logins.ts';
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
  queueUrl: ({ queueUrl }) => loginsOf(queueUrl).passwords,
  pgPassword: ({ pgPassword }) => [pgPassword],
  modelKeys: ({ modelKeys }) => [...modelKeys.values()],
  serviceAccounts: ({ serviceAccounts }) => [...serviceAccounts.values()].map(({ privateKey }) => privateKey),
  konfluxTokens: ({ konfluxTokens }) => [...konfluxTokens.values()],
  testingFarmToken: ({ testingFarmToken }) => [testingFarmToken],
  mcp: ({ mcp }) =>
    [...mcp.values()].flatMap(({ token, env }) => [
      token,
      ...Object.values(env).flatMap((value) => [
        isWord(value) ? undefined : value,
        ...loginsOf(value).passwords,
      ]),
    ]),
  s3Credentials: ({ s3Credentials }) => [
    s3Credentials?.accessKeyId,
    s3Credentials?.secretAccessKey,
    s3Credentials?.sessionToken,
  ],
  // What of it is secret is the redactor's guess.
  environment: () => [],
  // Words for people.
  warnings: () => [],
};

const MIN_PASSED_CHARS = 8;
const MIN_PASSED_DIFFERENT = 6;
const MAX_WORD_CHARS = 24;

/** What is passed to a server need not be secret: `production` or `true` would be missed in every log. */
function isWord(value: string): boolean {
  if (value.length < MIN_PASSED_CHARS || new Set(value).size < MIN_PASSED_DIFFERENT) return true;
  return (
    value.length < MAX_WORD_CHARS &&
    /^(?:[A-Z]?[a-z]+|[A-Z]+)(?:[ _.-]?[A-Z]?[a-z]+|[ _.-][A-Z]+)*$/.test(value)
  );
}
