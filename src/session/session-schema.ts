import { z } from 'zod';
import { NO_USAGE } from '../agent/model.ts';
import type { SessionContext, SessionMeta } from './session-store.ts';

// Loose: what another release of the same version adds is kept when the session is saved again.

const toolCall = z.looseObject({
  id: z.string(),
  name: z.string(),
  arguments: z.record(z.string(), z.unknown()),
});

const files = z.exactOptional(
  z.array(
    z.looseObject({
      path: z.string(),
      sha256: z.string(),
      bytes: z.number(),
      tool: z.string(),
      args: z.record(z.string(), z.unknown()),
      kind: z.enum(['log', 'json', 'text']),
    }),
  ),
);

const message = z.discriminatedUnion('role', [
  z.looseObject({
    role: z.literal('user'),
    content: z.string(),
    noteId: z.exactOptional(z.number()),
    failures: z.exactOptional(z.array(z.string())),
    isSummary: z.exactOptional(z.literal(true)),
    files,
  }),
  z.looseObject({
    role: z.literal('assistant'),
    content: z.string(),
    toolCalls: z.array(toolCall),
    published: z.exactOptional(z.string()),
    size: z.exactOptional(
      z.looseObject({ tokens: z.number(), model: z.string(), frame: z.exactOptional(z.string()) }),
    ),
    native: z.exactOptional(z.looseObject({ author: z.string(), content: z.unknown() })),
  }),
  z.looseObject({
    role: z.literal('tool'),
    toolCallId: z.string(),
    name: z.string(),
    content: z.string(),
    isError: z.boolean(),
    isSourced: z.exactOptional(z.literal(true)),
    files,
  }),
]);

const filesPart = z.looseObject({
  name: z.string().regex(/^(?:files\/)?[A-Za-z0-9.-]+$/),
  bytes: z.number(),
  sha256: z.string(),
});

export const sessionContext: z.ZodType<SessionContext> = z.looseObject({
  version: z.literal(1),
  stamp: z.exactOptional(z.looseObject({ id: z.string(), after: z.string().nullable() })),
  files: z.exactOptional(z.array(filesPart)),
  messages: z.array(message).min(1),
});

export const sessionMeta: z.ZodType<SessionMeta> = z.looseObject({
  version: z.literal(1),
  sessionId: z.string(),
  projectId: z.number(),
  projectPath: z.string(),
  mrIid: z.number(),
  visibility: z.string().nullable().default(null),
  sha: z.string(),
  workflow: z.string(),
  model: z.string(),
  createdAt: z.string(),
  updatedAt: z.string(),
  ending: z.string().nullable(),
  runs: z.number(),
  usage: z
    .looseObject({
      inputTokens: z.number(),
      cacheReadTokens: z.number(),
      cacheWriteTokens: z.number(),
      outputTokens: z.number(),
    })
    .default({ ...NO_USAGE }),
  costMicroUsd: z.number().default(0),
  leftOut: z.array(z.looseObject({ path: z.string(), bytes: z.number().nullable() })).default([]),
});

/** Of a conversation that may be anything: null when it has none. */
export function findStamp(text: string): string | null {
  try {
    return stamped.parse(JSON.parse(text)).stamp.id;
  } catch {
    return null;
  }
}

const stamped = z.looseObject({ stamp: z.looseObject({ id: z.string() }) });

/** Read before anything else: what a newer version wrote may have any other shape. */
export const versioned = z.looseObject({ version: z.number() });
