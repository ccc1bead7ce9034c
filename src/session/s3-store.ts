import { createSessionStore, type OpenedStore } from './create-store.ts';
import { createS3Objects } from './s3/s3-objects.ts';
import type { S3Options } from './s3/s3-options.ts';

/** Sessions in a bucket. */
export function openS3Store(options: S3Options): OpenedStore {
  return createSessionStore(createS3Objects(options));
}
