import { z } from 'zod';
import { cutText } from '../cut-text.ts';
import { PAGING, readList, toCutNote } from './read-list.ts';
import { defineTool, type Scope } from './scope.ts';

const MAX_NOTE = 4_000;

export function createListDiscussions({ client, projectId, mrIid }: Scope) {
  return defineTool({
    name: 'gitlab_list_discussions',
    description:
      'What people and bots wrote on the merge request, by thread, oldest first: author, time, text, file and line of comments on the diff, whether it is resolved. With system: true also what GitLab itself notes (pushes, labels, target branch changed).',
    schema: z.strictObject({
      system: z.boolean().optional().describe("Also GitLab's own notes"),
    }),
    async read({ system = false }, signal) {
      const list = await readList(
        client,
        (api) => api.MergeRequestDiscussions.all(projectId, mrIid, PAGING),
        { schema: wireDiscussion, what: 'the discussions' },
        signal,
      );
      const discussions = list.items
        .map(({ notes }) => notes.filter((note) => mayBeShown(note) && (system || !note.system)))
        .filter((notes) => notes.length > 0)
        .map(fromThread);
      return { kind: 'json', value: { discussions, ...toCutNote(list, 'discussions') } };
    },
  });
}

const wireNote = z.object({
  id: z.number(),
  body: z.string().nullish(),
  author: z.object({ username: z.string() }).nullish(),
  created_at: z.string().nullish(),
  system: z.boolean(),
  internal: z.boolean().nullish(),
  confidential: z.boolean().nullish(),
  resolvable: z.boolean().nullish(),
  resolved: z.boolean().nullish(),
  position: z
    .object({
      new_path: z.string().nullish(),
      old_path: z.string().nullish(),
      new_line: z.number().nullish(),
      old_line: z.number().nullish(),
    })
    .nullish(),
});

type WireNote = z.infer<typeof wireNote>;

const wireDiscussion = z.object({ notes: z.array(wireNote) });

/** Internal notes are for members only; what the agent writes is for everybody who sees the merge request. */
function mayBeShown({ internal, confidential }: WireNote): boolean {
  return !internal && !confidential;
}

function fromThread(notes: readonly WireNote[]) {
  const [first] = notes;
  return {
    ...toPlace(first?.position),
    ...(notes.some(({ resolvable }) => resolvable) && {
      resolved: notes.every(({ resolvable, resolved }) => !resolvable || resolved === true),
    }),
    notes: notes.map(fromNote),
  };
}

function toPlace(position: WireNote['position']) {
  if (!position) return {};
  const { new_path, old_path, new_line, old_line } = position;
  return {
    path: new_path ?? old_path ?? null,
    // A removed line has a number in the old file only.
    ...(new_line ? { line: new_line } : old_line ? { old_line } : {}),
  };
}

function fromNote(note: WireNote) {
  return {
    id: note.id,
    author: note.author?.username ?? null,
    created: note.created_at ?? null,
    ...(note.system && { system: true }),
    text: cutText(note.body ?? '', MAX_NOTE, 'the note'),
  };
}
