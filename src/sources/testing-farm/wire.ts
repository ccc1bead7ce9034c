import { z } from 'zod';
import { checkWire } from '../from-wire.ts';
import type { Scope } from './scope.ts';

export async function readRequest({ api }: Scope, id: string, signal: AbortSignal): Promise<FarmRequest> {
  const answer = await api.getJson(`requests/${id}`, {}, signal);
  return checkWire(wireRequest, answer, { who: api.who, what: `request ${id}` });
}

const wireGit = z
  .object({
    url: z.string().nullish(),
    ref: z.string().nullish(),
    merge_sha: z.string().nullish(),
    name: z.string().nullish(),
    path: z.string().nullish(),
  })
  .nullish();

// Secrets, variables and tokens of webhooks are not even read.
const wireRequest = z.object({
  id: z.string(),
  state: z.string(),
  created: z.string().nullish(),
  updated: z.string().nullish(),
  queued_time: z.number().nullish(),
  run_time: z.number().nullish(),
  test: z.object({ fmf: wireGit, sti: wireGit }).nullish(),
  environments_requested: z
    .array(
      z.object({
        arch: z.string().nullish(),
        os: z.object({ compose: z.string().nullish() }).nullish(),
        pool: z.string().nullish(),
        artifacts: z.array(z.object({ id: z.string().nullish(), type: z.string().nullish() })).nullish(),
      }),
    )
    .nullish(),
  notes: z.array(z.object({ level: z.string().nullish(), message: z.string().nullish() })).nullish(),
  result: z
    .object({
      overall: z.string().nullish(),
      summary: z.string().nullish(),
      xunit: z.string().nullish(),
      xunit_url: z.string().nullish(),
    })
    .nullish(),
  run: z.object({ artifacts: z.string().nullish() }).nullish(),
});

export type FarmRequest = z.infer<typeof wireRequest>;
