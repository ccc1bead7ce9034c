// Files in which the AWS SDK finds a login that it gets keys with: it holds them as well, but shows them to nobody.
import { readdir, readFile } from 'node:fs/promises';
import { homedir } from 'node:os';
import { join } from 'node:path';

/** Keys of all profiles, logins of single sign-on, and the identity that EKS gives to a pod. */
export async function readLoginFiles(environment: ReadonlyMap<string, string>): Promise<string[]> {
  const folder = join(environment.get('HOME') || homedir(), '.aws');
  const cache = join(folder, 'sso/cache');
  const profiles = [
    environment.get('AWS_SHARED_CREDENTIALS_FILE') || join(folder, 'credentials'),
    environment.get('AWS_CONFIG_FILE') || join(folder, 'config'),
  ];
  const logins = (await readdir(cache).catch(() => [])).map((name) => join(cache, name));
  const identity = environment.get('AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE');
  const found = await Promise.all([
    ...profiles.map(async (path) => ofProfiles(await read(path))),
    ...logins.map(async (path) => ofLogin(await read(path))),
    identity ? read(identity).then((text) => [text.trim()]) : [],
  ]);
  return found.flat().filter((one) => one !== '');
}

/** What is not there, or may not be read, the SDK has not got either. */
function read(path: string): Promise<string> {
  return readFile(path, 'utf8').catch(() => '');
}

function ofProfiles(text: string): string[] {
  return [...text.matchAll(/^[ \t]*(?:aws_secret_access_key|aws_session_token)[ \t]*=[ \t]*(\S+)/gim)].map(
    ([, value = '']) => value,
  );
}

function ofLogin(text: string): string[] {
  return [...text.matchAll(/"(?:accessToken|refreshToken|clientSecret)"\s*:\s*"([^"]+)"/g)].map(
    ([, value = '']) => value,
  );
}
