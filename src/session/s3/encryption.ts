import type { PutObjectCommandInput } from '@aws-sdk/client-s3';
import type { S3Options } from './s3-options.ts';

type Encryption = Pick<PutObjectCommandInput, 'ServerSideEncryption' | 'SSEKMSKeyId'>;

/** How the service is to encrypt what it stores; as the bucket says unless told. */
export function toEncryption({ encryption }: S3Options): Encryption {
  if (!encryption) return {};
  if (encryption.kind === 'AES256') return { ServerSideEncryption: 'AES256' };
  const { keyId } = encryption;
  return { ServerSideEncryption: 'aws:kms', ...(keyId !== undefined && { SSEKMSKeyId: keyId }) };
}
