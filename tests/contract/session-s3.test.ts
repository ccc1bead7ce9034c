import { GetObjectCommand, PutObjectCommand, S3Client } from '@aws-sdk/client-s3';
import { inject } from 'vitest';
import { openS3Store } from '../../src/session/s3-store.ts';
import { s3Options } from '../services/s3.ts';
import { sessionContract } from './session-contract.ts';

sessionContract({
  name: 'S3',
  async open() {
    const options = s3Options(inject('s3Url'));
    const { bucket: Bucket, prefix, endpoint = '', credentials = CREDENTIALS } = options;
    const client = new S3Client({ endpoint, forcePathStyle: true, region: 'us-east-1', credentials });
    const get = async (key: string): Promise<Buffer | null> => {
      const found = await client
        .send(new GetObjectCommand({ Bucket, Key: `${prefix}${key}` }))
        .catch(() => null);
      return found?.Body ? Buffer.from(await found.Body.transformToByteArray()) : null;
    };
    const store = openS3Store(options);
    return {
      store,
      reopen: () => openS3Store(options),
      async read(id, name) {
        if (name !== 'transcript.jsonl') return get(`${id}/${name}`);
        const parts: (Buffer | null)[] = [];
        for await (const object of store.catalog.objects(id))
          if (object.name.startsWith('transcript/')) parts.push(await get(`${id}/${object.name}`));
        return Buffer.concat(parts.filter((part) => part !== null));
      },
      async write(id, name, content) {
        await client.send(new PutObjectCommand({ Bucket, Key: `${prefix}${id}/${name}`, Body: content }));
      },
      async close() {
        await store.close();
        client.destroy();
      },
    };
  },
});

const CREDENTIALS = { accessKeyId: '', secretAccessKey: '' };
