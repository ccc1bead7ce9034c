import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { NO_FINAL_RESPONSE } from '../../src/agent/prompts.ts';
import type { ModelScript } from '../services/model.ts';
import { openAll } from '../services/open-backend.ts';
import { oneToolWorkflow } from './scene.ts';
import { arrange, ask, ended, failPipeline, lastRequest, noteOf, scene, start } from './story-scene.ts';

const THOUGHT = 'The rounding looks suspicious.';

/** At 2 USD per million tokens of input and 10 of output: $0.20, and the next call may cost twice as much. */
const LONG = { inputTokens: 100_000 };
const LONG_COST = 201_000;
const SHORT = { inputTokens: 1_000 };
const SHORT_COST = 3_000;

const look = { name: 'gitlab_get_mr_details' };
/** Thinks aloud and looks further, forever. */
const endless: ModelScript = () => ({ text: THOUGHT, calls: [look], ...LONG });
/** Looks, then says so at length. */
const thorough: ModelScript = (conversation) =>
  conversation.some(({ role }) => role === 'tool')
    ? { text: 'The rounding.', ...LONG }
    : { calls: [look], ...SHORT };

function withLimits(limits: Record<string, number>) {
  return { config: { ...oneToolWorkflow(), projects: { 'shop/**': limits } } };
}

/** As people see it: a dollar sign in a note must not begin a formula. */
async function readNote(index: number) {
  const { body, discussionId } = await noteOf(index);
  return { body: body.replaceAll('&#36;\u200b', '$'), discussionId };
}

function saved(file: string): Record<string, unknown> {
  const sessions = join(scene.folder, 'sessions');
  const [session = ''] = readdirSync(sessions);
  return JSON.parse(readFileSync(join(sessions, session, file), 'utf8'));
}

test('a run that has no money for another turn ends with its best text; a reply goes on in a run of its own', async () => {
  await arrange(withLimits({ usdPerRun: 0.5 }));
  scene.model.script = endless;
  failPipeline();

  const note = await readNote(0);
  const [notice, , text] = note.body.split('\n');
  expect(notice).toMatch(/^> ⚠️ This analysis used up its money; .*the limit of \$0\.50 for a run/);
  expect(notice).toContain('$0.20 are used');
  expect(notice).toContain('raise usdPerRun of the project');
  expect(text).toBe(THOUGHT);
  expect(note.body).toContain('· 1 turn · 100k tokens · $0.20 ·');
  expect(scene.model.conversations()).toHaveLength(1);
  const usage = { inputTokens: 100_000, cacheReadTokens: 0, cacheWriteTokens: 0, outputTokens: 100 };
  const costMicroUsd = LONG_COST;
  await expect.poll(ended).toMatchObject([{ ending: 'money', usage, costMicroUsd }]);
  expect(saved('meta.json')).toMatchObject({ ending: 'money', runs: 1, usage, costMicroUsd });
  expect(saved('context.json').messages).toMatchObject([
    { role: 'user' },
    { role: 'assistant' },
    { role: 'tool' },
  ]);

  scene.model.script = () => ({ text: 'Yes, by half a cent.', ...LONG });
  ask(note.discussionId, 'Is it?');
  const answer = await readNote(1);
  // It could afford this one answer, and was told so before it could look any further.
  expect(answer.body).toMatch(/used up its money.*one more answer only.*\n\nYes, by half a cent\./);
  expect(answer.body).toContain('· $0.20 ·');
  expect(lastRequest()).toContain(THOUGHT);
  expect(saved('meta.json')).toMatchObject({ ending: 'money', runs: 2, costMicroUsd: 2 * LONG_COST });
});

test('a run that has no money at all says so and keeps the session; once the limit is raised, a reply is answered', async () => {
  await arrange(withLimits({ usdPerRun: 0.01 }));
  failPipeline();

  const note = await readNote(0);
  expect(note.body).toMatch(/used up its money.*the limit of \$0\.01 for a run/);
  expect(note.body).toContain(NO_FINAL_RESPONSE);
  expect(note.body).toContain('· $0.00 ·');
  expect(scene.model.conversations()).toEqual([]);
  expect(saved('context.json').messages).toMatchObject([{ role: 'user' }]);

  await scene.stop();
  writeFileSync(scene.file, readFileSync(scene.file, 'utf8').replace('usdPerRun: 0.01', 'usdPerRun: 1'));
  await start();
  scene.model.script = () => ({ text: 'The rounding.' });
  ask(note.discussionId, 'And now?');
  expect((await noteOf(1)).body).toMatch(/^The rounding\./);
  expect(lastRequest()).toContain('"session_id"');
});

test('the runs of a merge request share its limit, and their records tell what each has cost', async () => {
  await arrange(withLimits({ usdPerMr: 0.5 }));
  scene.model.script = thorough;
  failPipeline();
  const note = await readNote(0);
  ask(note.discussionId, 'Sure?');

  expect((await readNote(1)).body).toMatch(/used up its money.*the limit of \$0\.50 for a merge request/);
  await expect.poll(ended).toHaveLength(2);
  await scene.stop();
  const costMicroUsd = SHORT_COST + LONG_COST;
  const { records, close } = await openAll({ url: scene.env.HUMMINGBIRD_QUEUE_URL, keyPrefix: 'unused' });
  expect(await records.runs.list({ limit: 9 })).toMatchObject([
    { kind: 'reply', ending: 'money', costMicroUsd: 0 },
    { kind: 'analyze', ending: 'answered', costMicroUsd, usage: { inputTokens: 101_000 } },
  ]);
  expect(await records.costs.used(`mr:${scene.project.id}!${scene.mr.iid}`)).toBe(costMicroUsd);
  await close();
});

test('a model that is away costs nothing, however often it is asked', async () => {
  await arrange({ config: { projects: { 'shop/**': { usdPerRun: 0.5 } }, queue: { attempts: 2 } } });
  scene.model.script = () => ({ status: 503 });
  failPipeline();

  expect((await noteOf(0)).body).toContain('The model could not be used since');
  await expect.poll(ended).toMatchObject([{ ending: 'failed', costMicroUsd: 0 }]);
  expect(scene.model.conversations().length).toBeGreaterThan(2);
}, 60_000);
