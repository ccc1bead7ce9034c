import type { Flaw, Problem } from './problem.ts';
import type { Config } from './schema.ts';

export type WebhookSecrets = { tokens: string[]; signingKeys: Buffer[]; problems: Problem[] };

/** Collects every accepted webhook secret; having none at all is a problem too. */
export function readWebhookSecrets(
  { tokenEnvs, signingTokenEnvs }: Config['webhook'],
  read: (name: string) => string | undefined,
): WebhookSecrets {
  const found: WebhookSecrets = { tokens: [], signingKeys: [], problems: [] };
  for (const [index, name] of tokenEnvs.entries()) {
    const token = read(name);
    if (token === undefined) continue;
    if (token.length >= minTokenLength) found.tokens.push(token);
    else found.problems.push({ path: `webhook.tokenEnvs[${index}]`, ...shortToken(name) });
  }
  for (const [index, name] of signingTokenEnvs.entries()) {
    const token = read(name);
    if (token === undefined) continue;
    const key = decodeSigningToken(token);
    if (key) found.signingKeys.push(key);
    else found.problems.push({ path: `webhook.signingTokenEnvs[${index}]`, ...badSigningToken(name) });
  }
  const names = [...tokenEnvs, ...signingTokenEnvs];
  if (names.every((name) => read(name) === undefined)) found.problems.push(noSecret(names));
  return found;
}

const minTokenLength = 16;
const minSigningKeyBytes = 24;

function decodeSigningToken(token: string): Buffer | null {
  const base64 = /^whsec_([A-Za-z0-9+/]+={0,2})$/.exec(token)?.[1];
  if (base64 === undefined) return null;
  const key = Buffer.from(base64, 'base64');
  return key.length >= minSigningKeyBytes ? key : null;
}

function shortToken(name: string): Flaw {
  return {
    message: `the webhook token in ${name} is shorter than ${minTokenLength} characters`,
    fix: `make a longer one (openssl rand -hex 32), for ${name} and for the webhook in GitLab`,
  };
}

function badSigningToken(name: string): Flaw {
  return {
    message: `the signing token in ${name} is not whsec_ and the base64 form of at least ${minSigningKeyBytes} bytes`,
    fix: `copy the signing token of the webhook in GitLab into ${name}, whole and unchanged`,
  };
}

function noSecret(names: readonly string[]): Problem {
  return {
    path: 'webhook',
    message: `no webhook secret: none of ${names.join(', ')} is set, and anybody could send events`,
    fix: `make one (openssl rand -hex 32), put it into ${names[0]} and give the same to the webhook in GitLab`,
  };
}
