import { z } from 'zod';
import { byteCount, durationMs, httpUrl, nonEmpty, notBelow, sound } from '../values.ts';

const MIB = 1_048_576;

const keepBytes = byteCount(0)
  .default(268_435_456)
  .describe('Size of the files that are kept with a session; the largest are left out first');

const virtual = z.strictObject({
  kind: z.literal('virtual').describe('A shell in this process, on files in memory'),
  maxBytes: byteCount(MIB).default(268_435_456).describe('Size of all its files together'),
  keepBytes,
});

const docker = z
  .strictObject({
    kind: z.literal('docker').describe('A container without network for each job'),
    image: nonEmpty().default('hummingbird-sandbox:latest').describe('Image of the container'),
    socketPath: nonEmpty().default('/var/run/docker.sock').describe('Socket of the engine'),
    url: httpUrl().optional().describe('Address of the engine, if it has no socket here'),
    maxBytes: byteCount(MIB)
      .default(536_870_912)
      .describe('Size of all files together; they are in memory, so it must be less than that'),
    keepBytes,
    memoryMb: z
      .int()
      .min(64)
      .max(1_048_576)
      .default(1024)
      .describe('Memory of the container in MiB, without swap'),
    cpus: z.number().min(0.1).max(256).default(1).describe('Processor cores of the container'),
    pids: z.int().min(32).max(32_768).default(256).describe('Processes of the container'),
    openFiles: z.int().min(64).max(1_048_576).default(1024).describe('Open files of one process'),
    commandTimeoutMs: durationMs(1000).default(120_000).describe('How long one command may take'),
    jobTimeoutMs: durationMs(1000).default(1_800_000).describe('How long all commands of a job may take'),
    runtime: nonEmpty().optional().describe('Runtime of the engine, such as runsc'),
    pool: z.int().min(0).max(64).default(1).describe('Containers that are kept ready for the next jobs'),
  })
  .refine(
    (docker) => docker.jobTimeoutMs >= docker.commandTimeoutMs,
    notBelow('jobTimeoutMs', 'commandTimeoutMs'),
  )
  .refine(({ maxBytes, memoryMb }) => maxBytes <= (memoryMb * MIB) / 2, {
    path: ['maxBytes'],
    message: 'must not be more than half of memoryMb: files are in memory, and commands need some too',
    params: { fix: 'lower it or raise memoryMb' },
    when: sound('maxBytes', 'memoryMb'),
  });

export const sandbox = z
  .discriminatedUnion('kind', [virtual, docker])
  .prefault({ kind: 'virtual' })
  .describe('Where the commands of the agent run');
