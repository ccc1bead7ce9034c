import type { Problem } from './problem.ts';
import type { Config } from './schema.ts';

export interface S3Credentials {
  accessKeyId: string;
  secretAccessKey: string;
  sessionToken?: string;
}

export function readS3Credentials(
  { store }: Config,
  read: (name: string) => string | undefined,
): { credentials: S3Credentials | undefined; problems: Problem[] } {
  if (store.kind !== 's3' || !store.credentials) return { credentials: undefined, problems: [] };
  const names = store.credentials;
  const accessKeyId = read(names.accessKeyIdEnv);
  const secretAccessKey = read(names.secretAccessKeyEnv);
  const sessionToken = names.sessionTokenEnv && read(names.sessionTokenEnv);
  const problems = Object.entries(names)
    .filter(([, name]) => name !== undefined && !read(name))
    .map(([key, name]) => ({
      path: `store.credentials.${key}`,
      message: `the environment variable ${name} is not set`,
      fix: `put it there, or remove store.credentials to let the AWS SDK find credentials by itself`,
    }));
  if (accessKeyId === undefined || secretAccessKey === undefined) return { credentials: undefined, problems };
  return { credentials: { accessKeyId, secretAccessKey, ...(sessionToken && { sessionToken }) }, problems };
}
