import { z } from 'zod';
import { httpUrl, nonEmpty } from '../values.ts';

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
  kind: z.literal('s3').describe('Any S3-compatible service; credentials come from the usual AWS variables'),
  bucket: nonEmpty().describe('Name of the bucket'),
  prefix: nonEmpty().optional().describe('Begins the name of every object'),
  endpoint: httpUrl().optional().describe('Address of the service, if it is not AWS'),
  region: nonEmpty().optional().describe('Region of the bucket'),
  forcePathStyle: z
    .boolean()
    .optional()
    .describe('Bucket in the path instead of the host name, as MinIO wants it'),
  retentionDays,
});

export const store = z
  .discriminatedUnion('kind', [folder, s3])
  .prefault({ kind: 'folder' })
  .describe('Where sessions are kept');
