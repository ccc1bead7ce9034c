import { z } from 'zod';
import { byteCount, dayMs, durationMs, envName, nonEmpty, notBelow, sound } from '../values.ts';

const spool = z
  .strictObject({
    dir: nonEmpty().default('.hummingbird/spool').describe('Folder for events that wait for the queue'),
    maxBytes: byteCount(1)
      .default(1_073_741_824)
      .describe('Size of the spool beyond which events are refused'),
  })
  .prefault({})
  .describe('Where events go while the queue is down');

export const webhook = z
  .strictObject({
    tokenEnvs: z
      .array(envName())
      .default(['HUMMINGBIRD_WEBHOOK_TOKEN', 'HUMMINGBIRD_WEBHOOK_TOKEN_PREVIOUS'])
      .describe('Variables with the accepted secret tokens; several, so that they can be rotated'),
    signingTokenEnvs: z
      .array(envName())
      .default(['HUMMINGBIRD_WEBHOOK_SIGNING_TOKEN', 'HUMMINGBIRD_WEBHOOK_SIGNING_TOKEN_PREVIOUS'])
      .describe('Variables with the accepted signing tokens (whsec_…)'),
    replayWindowMs: durationMs(1000).default(300_000).describe('How old a signed event may be'),
    maxBodyBytes: byteCount(1024)
      .default(26_214_400)
      .describe('Largest event taken; GitLab sends up to 25 MB'),
    rememberEventsMs: durationMs(1000, 365 * dayMs)
      .default(7 * dayMs)
      .describe('How long an event is remembered, so that a repeated one is not worked on again'),
    spool,
  })
  .refine((webhook) => webhook.tokenEnvs.length + webhook.signingTokenEnvs.length > 0, {
    path: ['tokenEnvs'],
    message: 'no variable can hold a webhook secret: tokenEnvs and signingTokenEnvs are both empty',
    params: { fix: 'name at least one variable, as in HUMMINGBIRD_WEBHOOK_TOKEN' },
    when: sound('tokenEnvs', 'signingTokenEnvs'),
  })
  .refine(
    (webhook) => webhook.rememberEventsMs >= webhook.replayWindowMs,
    notBelow('rememberEventsMs', 'replayWindowMs'),
  )
  .refine((webhook) => webhook.spool.maxBytes >= webhook.maxBodyBytes, {
    ...notBelow('spool', 'maxBodyBytes'),
    path: ['spool', 'maxBytes'],
  })
  .prefault({})
  .describe('How GitLab calls us');
