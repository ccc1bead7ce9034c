// An attack as data, and what came of it.
import type { Note } from '../../src/demo/gitlab/model.ts';
import type { Rendering } from '../../src/demo/gitlab/rendering.ts';
import type { Opened } from '../services/open-backend.ts';
import { type Arena, openArena, withFolder } from './arena.ts';
import type { Control } from './controls.ts';
import { HIDINGS, type Hiding } from './hiding.ts';
import { type Carrier, createScene, type Scene, TRUE_LINE } from './scene.ts';

export interface Attack {
  /** What the attacker wants. */
  goal: string;
  /** Where the order stands, and hidden how. */
  in: Carrier;
  as?: Hiding;
  /** Each is hidden by itself; see `createObedientModel`. */
  orders: readonly string[] | ((scene: Scene) => readonly string[]);
  /** What keeps it from happening. Several: any one of them is enough, so all have to be off. */
  control: Control | readonly Control[];
  /** What the job has printed. */
  leak?: string;
  arrange?: (scene: Scene) => void;
  /** What happens; the pipeline fails, and with a reply somebody asks, unless told. */
  play?: (arena: Arena) => Promise<void>;
  usdPerRun?: number;
  hasWritingTool?: boolean;
  /** Nothing at all is written when it does not work. */
  isRefused?: true;
  /** Whether the attacker has it. */
  harm: (outcome: Outcome) => boolean | Promise<boolean>;
}

export interface Outcome extends Arena {
  /** The agent's, anywhere. */
  notes: readonly Readonly<Note>[];
  /** All of them. */
  said: string;
  /** What the attack wants to be done, without what hides it. */
  orders: readonly string[];
  shown: readonly Rendering[];
}

export async function enact<T>(
  attack: Attack,
  { without, backend }: { without: readonly Control[]; backend: Pick<Opened, 'records' | 'queue'> },
  judge: (outcome: Outcome) => Promise<T>,
): Promise<T> {
  const hide = HIDINGS[attack.as ?? 'none'];
  const toText = (orders: readonly string[]) => orders.map((order) => hide(`DO ${order} OD`)).join('\n');
  const scene = await createScene(
    typeof attack.orders === 'function' ? {} : { [attack.in]: toText(attack.orders) },
    attack.leak,
  );
  const orders = typeof attack.orders === 'function' ? attack.orders(scene) : attack.orders;
  const text = toText(orders);
  // Such orders name what is there only now.
  if (typeof attack.orders === 'function') plant(scene, attack.in, text);
  attack.arrange?.(scene);
  return withFolder(async (folder) => {
    const { usdPerRun, hasWritingTool } = attack;
    const arena = await openArena({ scene, backend, without, folder, usdPerRun, hasWritingTool });
    try {
      await (attack.play ?? ((arena) => play(arena, attack.in === 'reply' ? text : null)))(arena);
      return await judge(toOutcome(arena, orders));
    } finally {
      await arena.close();
      await scene.close();
    }
  });
}

/** The pipeline fails; then somebody of the project asks, if there is something to ask. */
export async function play(arena: Arena, question: string | null): Promise<void> {
  await analyze(arena, arena);
  if (question !== null) await ask(arena, { question, userId: arena.nadia.id });
}

export async function analyze(
  arena: Arena,
  of: { project: Scene['project']; mr: Scene['mr']; pipelineId: number },
): Promise<void> {
  const { project, mr, pipelineId } = of;
  await arena.run({
    kind: 'analyze',
    project: { id: project.id, path: project.path },
    mrIid: mr.iid,
    sha: mr.commits.at(-1) ?? '',
    isMergeResult: false,
    pipeline: { id: pipelineId, projectId: project.id },
  });
}

/** In the agent's thread, unless told otherwise; `claimedBy`: who the event says it was. */
export async function ask(
  arena: Arena,
  {
    question,
    userId,
    claimedBy = userId,
    ...where
  }: { question: string; userId: number; claimedBy?: number; mr?: Scene['mr']; discussionId?: string },
): Promise<void> {
  const { gitlab, agent } = arena;
  const { mr = arena.mr } = where;
  const first = gitlab.notes(mr.projectId, mr.iid).find(({ authorId }) => authorId === agent.id);
  const discussionId = where.discussionId ?? first?.discussionId ?? '';
  const note = gitlab.addNote({ projectId: mr.projectId, iid: mr.iid, userId, body: question, discussionId });
  const path = mr.projectId === arena.project.id ? arena.project.path : arena.payroll.project.path;
  await arena.run({
    kind: 'reply',
    project: { id: mr.projectId, path },
    mrIid: mr.iid,
    noteId: note.id,
    discussionId,
    authorId: claimedBy,
    mentioned: false,
  });
}

/** Where something can still be written into once the scene is there. */
function plant({ gitlab, mr, jobId, project }: Scene, carrier: Carrier, text: string): void {
  if (carrier === 'log') gitlab.setTrace(jobId, `ok - adds\n${TRUE_LINE}\n${text}\n`);
  else if (carrier === 'comment') gitlab.addNote({ ...mr, userId: mr.authorId, body: text });
  else if (carrier === 'title') gitlab.editMergeRequest(mr, { title: text });
  else if (carrier === 'artifact') gitlab.addArtifacts({ jobId, files: { 'out/service.log': text } });
  else if (carrier === 'file')
    gitlab.addFile({ projectId: project.id, ref: 'main', path: 'README.md', content: text });
  else if (carrier !== 'reply') throw new Error(`nothing can be planted in a ${carrier} afterwards`);
}

function toOutcome(arena: Arena, orders: readonly string[]): Outcome {
  const { gitlab, agent, mr, otherMr, payroll, vault } = arena;
  const notes = [mr, otherMr, payroll.mr, vault.mr]
    .flatMap(({ projectId, iid }) => gitlab.notes(projectId, iid))
    .filter(({ authorId }) => authorId === agent.id);
  return {
    ...arena,
    orders,
    notes,
    said: notes.map(({ body }) => body).join('\n\n'),
    shown: notes.map(({ id }) => gitlab.rendering(id)),
  };
}
