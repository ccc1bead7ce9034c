import { z } from 'zod';
import { byteCount, durationMs, nonEmpty, notBelow } from '../values.ts';

const virtual = z.strictObject({
  kind: z.literal('virtual').describe('A shell in this process, on files in memory'),
  maxBytes: byteCount(1_048_576).default(268_435_456).describe('Size of all its files together'),
});

const docker = z
  .strictObject({
    kind: z.literal('docker').describe('A container without network for each job'),
    image: nonEmpty().default('hummingbird-sandbox:latest').describe('Image of the container'),
    socketPath: nonEmpty().optional().describe('Socket of the engine, if it is not the usual one'),
    memoryMb: z.int().min(64).max(1_048_576).default(1024).describe('Memory of the container in MiB'),
    cpus: z.number().min(0.1).max(256).default(1).describe('Processor cores of the container'),
    pids: z.int().min(16).max(32_768).default(256).describe('Processes of the container'),
    commandTimeoutMs: durationMs(1000).default(120_000).describe('How long one command may take'),
    jobTimeoutMs: durationMs(1000).default(1_800_000).describe('How long the container may live'),
    runtime: nonEmpty().optional().describe('Runtime of the engine, such as runsc'),
  })
  .refine(
    (docker) => docker.jobTimeoutMs >= docker.commandTimeoutMs,
    notBelow('jobTimeoutMs', 'commandTimeoutMs'),
  );

export const sandbox = z
  .discriminatedUnion('kind', [virtual, docker])
  .prefault({ kind: 'virtual' })
  .describe('Where the commands of the agent run');
