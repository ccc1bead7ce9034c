import { z } from 'zod';
import { durationMs, envName, httpUrl, matching, nonEmpty } from '../values.ts';

const retentionDays = z
  .int()
  .min(1)
  .max(3650)
  .default(90)
  .describe('Age in days at which a session is deleted');

const folder = z.strictObject({
  kind: z.literal('folder').describe('A folder of this machine'),
  dir: nonEmpty().default('.hummingbird/sessions').describe('The folder'),
  retentionDays,
});

const s3 = z.strictObject({
  kind: z.literal('s3').describe('Any S3-compatible service'),
  bucket: nonEmpty().describe('Name of the bucket'),
  prefix: matching(/^[\w!*'()./-]+$/, {
    message: 'has characters that are not safe in the name of an object',
    fix: "use letters, digits and !*'()._-/, as in production/",
  })
    .overwrite((prefix) => `${prefix.replace(/\/+$/, '')}/`)
    .optional()
    .describe('Begins the name of every object; a slash follows it'),
  endpoint: httpUrl().optional().describe('Address of the service, if it is not AWS'),
  region: nonEmpty().optional().describe('Region of the bucket'),
  forcePathStyle: z
    .boolean()
    .optional()
    .describe('Bucket in the path instead of the host name, as MinIO wants it'),
  encryption: z
    .discriminatedUnion('kind', [
      z.strictObject({ kind: z.literal('AES256').describe('With keys of the service') }),
      z.strictObject({
        kind: z.literal('aws:kms').describe('With a key of KMS'),
        keyId: nonEmpty().optional().describe("Id of the key; the account's own unless told"),
      }),
    ])
    .optional()
    .describe('Encryption by the service; as the bucket says unless told'),
  credentials: z
    .strictObject({
      accessKeyIdEnv: envName().describe('Variable with the id of the access key'),
      secretAccessKeyEnv: envName().describe('Variable with the secret of the access key'),
      sessionTokenEnv: envName().optional().describe('Variable with the token of a temporary key'),
    })
    .optional()
    .describe(
      'Unless told, whatever the AWS SDK finds by itself: variables, profile, role of the machine or pod',
    ),
  timeoutMs: durationMs(1_000, 600_000)
    .default(30_000)
    .describe('How long one operation may take; of a large archive, how long nothing may move'),
  attempts: z.int().min(1).max(10).default(3).describe('How often a request that fails is sent'),
  spoolDir: nonEmpty()
    .default('.hummingbird/unsaved')
    .describe('Where a session is kept that can not be saved at the end of a run, until it can'),
  retentionDays,
});

export const store = z
  .discriminatedUnion('kind', [folder, s3])
  .prefault({ kind: 'folder' })
  .describe('Where sessions are kept');
