import { createPrivateKey } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { z } from 'zod';
import type { Flaw } from './problem.ts';

export type ServiceAccount = {
  email: string;
  keyId: string | undefined;
  /** In PEM. */
  privateKey: string;
  /** Where the key is exchanged for a token. */
  tokenUrl: string;
};

const fileSchema = z.object({
  type: z.literal('service_account'),
  client_email: z.string().min(1),
  private_key: z.string().refine(isPrivateKey),
  private_key_id: z.string().optional(),
  token_uri: z.url({ protocol: /^https?$/ }).default('https://oauth2.googleapis.com/token'),
});

/**
 * The key of a service account, from what a variable holds: the JSON of the key, or the path of its file. Nothing of
 * it is part of a flaw, and neither is what was thrown: that would quote it.
 */
export function readServiceAccount(value: string): ServiceAccount | Flaw {
  const text = value.startsWith('{') ? value : readText(value);
  if (text === undefined) return noFile;
  const { success, data, error } = fileSchema.safeParse(fromJson(text));
  if (!success) return toFlaw(error);
  return {
    email: data.client_email,
    keyId: data.private_key_id,
    privateKey: data.private_key,
    tokenUrl: data.token_uri,
  };
}

const fix =
  'put the JSON key of a service account, or the path of its file, into it; or remove credentialsEnv to use Application Default Credentials';

const noFile = { message: 'holds neither JSON nor the path of a file that can be read', fix };

function toFlaw({ issues }: z.ZodError): Flaw {
  const keys = [...new Set(issues.map(({ path }) => String(path[0] ?? '')))].filter((key) => key !== '');
  if (keys.length === 0) return { message: 'holds something that is not a JSON object', fix };
  return {
    message: `is not the key of a service account: ${keys.join(', ')} ${keys.length > 1 ? 'are' : 'is'} missing or wrong`,
    fix,
  };
}

function readText(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return undefined;
  }
}

function fromJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function isPrivateKey(pem: string): boolean {
  try {
    return createPrivateKey(pem).asymmetricKeyType === 'rsa';
  } catch {
    return false;
  }
}
