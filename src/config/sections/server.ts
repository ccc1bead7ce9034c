import { z } from 'zod';
import { nonEmpty } from '../values.ts';

export const server = z
  .strictObject({
    host: nonEmpty().default('127.0.0.1').describe('Address to listen on; 0.0.0.0 for all interfaces'),
    port: z.int().min(0).max(65_535).default(8080).describe('Port to listen on; 0 takes any free one'),
  })
  .prefault({})
  .describe('The HTTP server for webhooks, health and metrics');
