import { accessSync, constants } from 'node:fs';
import { z } from 'zod';
import { PermanentError } from '../../errors.ts';
import { parseRedisUrl } from '../../redis-address.ts';
import type { Flaw } from '../problem.ts';
import { checked, dayMs, durationMs, envName, matching, notBelow } from '../values.ts';

export const queue = z
  .strictObject({
    url: checked((url) => findQueueUrlFlaw(url) ?? findPasswordFlaw(url))
      .default('pglite:.hummingbird/db')
      .describe(
        'pglite:<dir> (embedded), redis://, redis-sentinel://, redis-cluster:// (rediss… with TLS), postgres:// or postgresql://, without a password',
      ),
    urlEnv: envName()
      .default('HUMMINGBIRD_QUEUE_URL')
      .describe('Variable with the whole URL, password included; if it is set, it wins over url'),
    keyPrefix: matching(/^[\w-]+$/, {
      message: 'may hold letters, digits, _ and - only',
      fix: 'write a short word such as hummingbird',
    })
      .default('hummingbird')
      .describe('Begins the name of every key and queue, so that two services can share a server'),
    concurrency: z.int().min(1).max(1000).default(4).describe('Jobs that one worker runs at the same time'),
    debounceMs: durationMs(0)
      .default(15_000)
      .describe('How long a job waits for further failures of its pipeline'),
    debounceMaxMs: durationMs(0)
      .default(120_000)
      .describe('How long it waits at most while they keep coming'),
    attempts: z.int().min(1).max(1000).default(12).describe('Tries of a job before it is set aside'),
    backoffMs: durationMs(1).default(5000).describe('Pause after the first failed try; it doubles with each'),
    backoffMaxMs: durationMs(1).default(600_000).describe('Longest such pause'),
    lockMs: durationMs(1000).default(30_000).describe('How long a silent worker keeps its job'),
    maxStalled: z
      .int()
      .min(1)
      .max(10_000)
      .default(20)
      .describe('How often a job survives the death of its worker'),
    keepFinishedMs: durationMs(1000, 365 * dayMs)
      .default(7 * dayMs)
      .describe('How long finished jobs stay visible'),
  })
  .refine((queue) => queue.debounceMaxMs >= queue.debounceMs, notBelow('debounceMaxMs', 'debounceMs'))
  .refine((queue) => queue.backoffMaxMs >= queue.backoffMs, notBelow('backoffMaxMs', 'backoffMs'))
  .prefault({})
  .describe('Where jobs wait, and what processes share');

/** What the service would refuse at its start. */
export function findQueueUrlFlaw(url: string): Flaw | null {
  if (/^rediss?(?:-sentinel|-cluster)?:\/\/\S+$/.test(url)) return findRedisFlaw(url);
  const isKnown = /^(?:pglite:|postgres(?:ql)?:\/\/)\S/.test(url);
  if (isKnown && (url.startsWith('pglite:') || URL.canParse(url))) return null;
  return {
    message: 'is not the address of a queue',
    fix: 'write pglite:<dir>, redis://…, redis-sentinel://…/master, redis-cluster://…, rediss… for TLS, postgres://… or postgresql://…',
  };
}

function findRedisFlaw(url: string): Flaw | null {
  try {
    const caFile = parseRedisUrl(url).tls?.caFile ?? null;
    if (caFile !== null) accessSync(caFile, constants.R_OK);
    return null;
  } catch (error) {
    if (!(error instanceof PermanentError))
      return {
        message: 'names a file with ?ca= that can not be read',
        fix: 'correct the path, or put the certificate of the authority there',
      };
    return {
      message: 'is not an address of Redis',
      fix: 'write redis://host:6379/0 (a number at the end is the database), redis-sentinel://host:26379,host:26379/master or redis-cluster://host:6379,host:6379, with rediss… for TLS; a % in a password is written %25',
    };
  }
}

function findPasswordFlaw(url: string): Flaw | null {
  const hasPassword = /^[\w-]+:\/\/[^@]*:[^@]*@/.test(url) || /[?&](?:sentinel)?password=/i.test(url);
  if (!hasPassword) return null;
  return {
    message: 'contains a password',
    fix: 'put the whole URL into the environment variable that urlEnv names (HUMMINGBIRD_QUEUE_URL by default)',
  };
}
