// GitLab's wire format, as far as we read it. Everything beyond is dropped here.
import { z } from 'zod';

const id = z.int().nonnegative();
/** What goes into jobs and keys: plain and short, whatever was sent. */
const word = z
  .string()
  .min(1)
  .max(500)
  .regex(/^[\x20-\x7e]+$/, 'has characters that do not belong there');
const sha = z.string().regex(/^[0-9a-f]{7,64}$/i, 'is not a commit');
const project = z.object({ id, path_with_namespace: word });
const user = z.object({ id, username: z.string() });

export const pipelineHook = z.object({
  project,
  object_attributes: z.object({
    id,
    sha,
    ref: z.string().nullish(),
    status: z.string(),
    tag: z.boolean().optional(),
    source: z.string().nullish(),
    finished_at: word.nullish(),
  }),
  merge_request: z
    .object({
      iid: id,
      state: z.string().optional(),
      target_project_id: id.optional(),
      url: z.string().optional(),
    })
    .nullish(),
  builds: z.array(z.object({ id, status: z.string(), allow_failure: z.boolean().optional() })).nullish(),
});

export const mergeRequestHook = z.object({
  project,
  object_attributes: z.object({
    iid: id,
    action: z.string().optional(),
    oldrev: z.string().nullish(),
    updated_at: word.nullish(),
    last_commit: z.object({ id: sha }).nullish(),
  }),
});

export const noteHook = z.object({
  event_type: z.string().optional(),
  user,
  project,
  object_attributes: z.object({
    id,
    note: z.string().nullish(),
    noteable_type: z.string(),
    author_id: id.optional(),
    action: z.string().optional(),
    system: z.boolean().nullish(),
    internal: z.boolean().nullish(),
    confidential: z.boolean().nullish(),
    type: z.string().nullish(),
    discussion_id: word.nullish(),
    created_at: z.string().nullish(),
    updated_at: z.string().nullish(),
  }),
  merge_request: z.object({ iid: id, state: z.string() }).nullish(),
});

export const emojiHook = z.object({
  event_type: z.string().optional(),
  user,
  project,
  object_attributes: z.object({
    id,
    name: z.string(),
    awardable_type: z.string(),
    awardable_id: id,
    action: z.string().optional(),
  }),
  note: z.object({ id, author_id: id, noteable_type: z.string() }).nullish(),
  merge_request: z.object({ iid: id }).nullish(),
});

export type PipelineHook = z.infer<typeof pipelineHook>;
export type MergeRequestHook = z.infer<typeof mergeRequestHook>;
export type NoteHook = z.infer<typeof noteHook>;
export type EmojiHook = z.infer<typeof emojiHook>;
