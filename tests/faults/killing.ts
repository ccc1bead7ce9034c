// A worker that is killed at a chosen moment, another one that takes over, and what can be seen of it afterwards.
import { globSync, mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { setTimeout as sleep } from 'node:timers/promises';
import { SUMMARY_HEADINGS } from '../../src/agent/prompts.ts';
import { LOCK } from '../../src/session/folder/place-stamped.ts';
import { createScene, type Scene, type SceneOptions, WEBHOOK_TOKEN } from '../flow/scene.ts';
import { run } from '../flow/service-process.ts';
import { EVENTS, failPipeline, system } from '../flow/story-scene.ts';
import type { Backend } from '../services/backends.ts';
import { type ModelScript, textOf } from '../services/model.ts';

export interface Moment {
  name: string;
  /** Sees to it that `kill` is called, once, at the moment. */
  arm(stage: Stage): void;
}

export interface Stage {
  scene: Scene;
  kill(): Promise<void>;
  /** Is told of each request to the model, from 1, before it is answered. */
  onAsked(listen: (asked: number, isSummary: boolean) => void): void;
  onGitlab(match: { method: string; path: RegExp }, listen: () => void): void;
}

export interface Outcome {
  fault: string;
  events: number;
  lost: number;
  doubled: number;
  /** Turns of the model that were taken again. */
  turnsRepeated: number;
  recoveredMs: number;
  /** It struck while there was no note yet. */
  isInTime: boolean;
  note: string;
}

export const STEPS = 6;
/** In which a worker may be killed. */
const SLOW_STEP = 3;
/** A turn for each step, and the answer. */
export const TURNS = STEPS + 1;
/** Each step adds its line once, whatever happens in between. */
export const WANTED = `The steps were: ${Array.from({ length: STEPS }, (_, at) => at + 1).join(' ')}.`;

export type OnAsked = (asked: number, isSummary: boolean) => void;

/** The scene of the story; `asked` counts the turns of the model, `listeners` hear of each. */
export async function createStory(options: SceneOptions) {
  const scene = await createScene({ ...options, config: { ...patientWorkflow(), ...options.config } });
  const listeners: OnAsked[] = [];
  const story = { scene, listeners, asked: 0 };
  scene.model.script = (conversation) => {
    const isSummary = system(conversation).includes('You sum up the working notes');
    if (!isSummary) story.asked += 1;
    for (const listen of listeners) listen(story.asked, isSummary);
    return answer(conversation, isSummary);
  };
  return story;
}

export function addHookOf({ gitlab, project }: Scene, serviceUrl: string): void {
  const url = `${serviceUrl}/webhooks/gitlab`;
  gitlab.addHook({ projectId: project.id, url, token: WEBHOOK_TOKEN, events: EVENTS });
}

/** Waits for the note of the story, and until nothing is written any more. */
export async function judge(
  { scene }: { scene: Scene },
  { fault, since }: { fault: string; since: number },
): Promise<Omit<Outcome, 'turnsRepeated' | 'isInTime'>> {
  const isThere = (): boolean => bodies(scene).some((body) => body.includes('The steps were'));
  const deadline = performance.now() + 60_000;
  while (!isThere() && performance.now() < deadline) await sleep(50);
  const recoveredMs = performance.now() - since;
  await settled(scene);
  const found = bodies(scene);
  return {
    fault,
    events: 1,
    lost: isThere() ? 0 : 1,
    doubled: Math.max(0, found.length - 1),
    recoveredMs,
    note: found[0] ?? '',
  };
}

/** Runs the story on a worker that is killed at these moments, one after the other. */
export async function killAt(backend: Backend, moments: readonly Moment[]): Promise<Outcome> {
  const story = await createStory({ backend: await backend.create() });
  const { scene, listeners } = story;
  let killedAt = 0;
  let isInTime = true;
  try {
    let process = await run(scene, 'all');
    addHookOf(scene, process.url);
    for (const [index, moment] of moments.entries()) {
      const { promise: killed, resolve } = Promise.withResolvers<void>();
      const victim = process;
      moment.arm({
        scene,
        kill: async () => {
          killedAt = performance.now();
          isInTime &&= bodies(scene).length === 0;
          await victim.kill();
          resolve();
        },
        onAsked: (listen) => void listeners.push(listen),
        onGitlab: (match, listen) => void whenAsked(scene, match, listen),
      });
      if (index === 0) failPipeline(scene);
      await killed;
      listeners.length = 0;
      process = await run(scene, 'all');
    }
    const judged = await judge(story, { fault: toName(moments), since: killedAt });
    return { ...judged, isInTime, turnsRepeated: story.asked - TURNS };
  } finally {
    await scene.close();
  }
}

export function toName(moments: readonly Moment[]): string {
  return moments.map(({ name }) => name).join(', then ');
}

/** Nothing is written any more. */
async function settled({ gitlab }: Scene): Promise<void> {
  let writes = -1;
  const count = (): number => gitlab.requests.filter(({ method }) => method !== 'GET').length;
  while (writes !== count()) {
    writes = count();
    await sleep(1_000);
  }
}

function bodies({ gitlab, project, mr, agent }: Scene): string[] {
  return gitlab
    .notes(project.id, mr.iid)
    .filter(({ authorId }) => authorId === agent.id)
    .map(({ body }) => body);
}

async function whenAsked(
  { gitlab }: Scene,
  { method, path }: { method: string; path: RegExp },
  listen: () => void,
): Promise<void> {
  const from = gitlab.requests.length;
  const isIt = (one: { method: string; path: string }): boolean =>
    one.method === method && path.test(one.path);
  await until(() => gitlab.requests.slice(from).some(isIt));
  listen();
}

/** Small enough that the story does not fit into it without a summary. */
function patientWorkflow() {
  const dir = mkdtempSync(join(tmpdir(), 'hummingbird-workflows-'));
  const head =
    '---\non: [pipeline_failed]\ncontext_limit: 30000\ncompact_at: 0.2\ntools: [sandbox_exec]\ngate: off\n---';
  writeFileSync(join(dir, 'patient.md'), `${head}\nFind out why.\n`);
  return { workflows: { dir, onFailedPipeline: 'patient' } };
}

/** Goes by what the conversation says, as a model does: it has no memory of its own. */
const answer = (conversation: Parameters<ModelScript>[0], isSummary: boolean): ReturnType<ModelScript> => {
  const whole = conversation.map(textOf).join('\n');
  const done = Math.max(0, ...[...whole.matchAll(/step (\d+) is done/g)].map(([, step]) => Number(step)));
  if (isSummary)
    return { text: SUMMARY_HEADINGS.map((heading) => `${heading}\n- step ${done} is done`).join('\n') };
  if (done === STEPS) {
    const [, steps = 'unknown'] = /all steps: ([\d ]*)\./.exec(whole) ?? [];
    return { text: `The steps were: ${steps}.` };
  }
  const step = done + 1;
  const pause = step === SLOW_STEP ? 'sleep 0.5; ' : '';
  const filler = `; seq ${step * 1_000} ${step * 1_000 + 700}`;
  const show = step === STEPS ? '; echo "all steps: $(tr "\\n" " " < /tmp/data/steps | sed "s/ $//")."' : '';
  const command = `echo ${step} >> /tmp/data/steps; ${pause}echo "step ${step} is done"${show}${filler}`;
  return { calls: [{ name: 'sandbox_exec', arguments: { command } }] };
};

export const MOMENTS = {
  whileModelAnswers: {
    name: 'while the model answers',
    arm: ({ onAsked, kill }) => onAsked((asked) => void (asked === 4 && kill())),
  },
  whileToolRuns: {
    name: 'while a tool runs',
    arm: async ({ scene, kill }) => {
      const events = (): string => {
        const [file] = globSync(join(scene.folder, 'sessions/*/transcript.jsonl'));
        return file ? readFileSync(file, 'utf8') : '';
      };
      await until(() => events().split('"tool-started"').length > SLOW_STEP);
      await kill();
    },
  },
  inCompaction: {
    name: 'in the middle of a compaction',
    arm: ({ onAsked, kill }) => onAsked((_asked, isSummary) => void (isSummary && kill())),
  },
  betweenFilesAndContext: {
    name: 'between files and context.json',
    arm: ({ scene, onAsked, kill }) =>
      onAsked(async (asked) => {
        if (asked !== SLOW_STEP) return;
        const [session = ''] = globSync(join(scene.folder, 'sessions/*'));
        // While this is held, the conversation is not replaced.
        const lock = new DatabaseSync(join(session, LOCK));
        lock.exec('BEGIN EXCLUSIVE');
        await until(() => globSync('files/*.tar.gz', { cwd: session }).length === SLOW_STEP);
        await kill();
        lock.close();
      }),
  },
  whilePosting: {
    name: 'between POST of the note and its answer',
    arm: ({ scene, onGitlab, kill }) => {
      const match = { method: 'POST', path: /\/notes$/ };
      scene.gitlab.fail({ match: { ...match, times: 1 }, with: { delayMs: 300 } });
      onGitlab(match, kill);
    },
  },
} satisfies Record<string, Moment>;

export function atRandom(maxMs: number, random: () => number): Moment {
  const waitMs = Math.round(random() * maxMs);
  return {
    name: `after ${waitMs} ms`,
    arm: ({ scene, kill }) => {
      const begun = scene.gitlab.requests.length;
      void until(() => scene.gitlab.requests.length > begun).then(() => setTimeout(kill, waitMs));
    },
  };
}

async function until(isSo: () => boolean): Promise<void> {
  while (!isSo()) await sleep(2);
}
