import { globSync, mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { SUMMARY_HEADINGS } from '../../src/agent/prompts.ts';
import { type ModelScript, textOf } from '../services/model.ts';
import {
  arrange,
  ask,
  FINDING,
  failPipeline,
  lastRequest,
  lastUser,
  noteOf,
  PROVIDERS,
  scene,
  system,
} from './story-scene.ts';

const TURNS = 14;
const FACT = 'the-disk-of-runner-7-was-full';

describe.each(PROVIDERS)('with %s', (provider) => {
  test('an investigation longer than the context is summed up on the way, and what was cut can still be asked for', async () => {
    const dir = mkdtempSync(join(tmpdir(), 'hummingbird-workflows-'));
    const head =
      '---\non: [pipeline_failed]\ncontext_limit: 12000\ncompact_at: 0.6\ntools: [sandbox_exec]\n---';
    writeFileSync(join(dir, 'patient.md'), `${head}\nFind out why.\n`);
    await arrange({ provider, config: { workflows: { dir, onFailedPipeline: 'patient' } } });
    failPipeline();
    scene.model.script = lookAround();

    const note = await noteOf(0);
    expect(note.body).toContain(FINDING);
    const compactions = transcript().filter(({ type }) => type === 'compaction');
    expect(compactions.length).toBeGreaterThanOrEqual(2);
    expect(compactions.map(({ how }) => how)).toContain('summarized');
    expect(globSync('sessions/**/history/*', { cwd: scene.folder })).not.toEqual([]);
    const sizes = scene.model.conversations().map((one) => JSON.stringify(one).length / 4);
    expect(Math.max(...sizes)).toBeLessThan(12_000);

    scene.model.script = (conversation) => {
      if (conversation.at(-1)?.role === 'tool') return { text: `It said ${FACT}.` };
      const whole = conversation.map(textOf).join('\n');
      const [file] = /\/tmp\/_out\/notes-\d+\.md/.exec(whole) ?? [];
      return {
        calls: [{ name: 'sandbox_exec', arguments: { command: `grep -rho 'the-disk[a-z0-9-]*' ${file}` } }],
      };
    };
    ask(note.discussionId, 'What was it again that the third command said about the runner and its disk?');
    await noteOf(1);
    expect(lastRequest()).toContain(FACT);
  });
});

/** A command after the other, each with a long output; only that of the third says what matters. */
function lookAround(): ModelScript {
  let turn = 0;
  return (conversation) => {
    if (system(conversation).includes('You sum up the working notes')) {
      expect(textOf(lastUser(conversation))).toContain('<turns>');
      return { text: SUMMARY_HEADINGS.map((heading) => `${heading}\n- something`).join('\n') };
    }
    turn += 1;
    if (turn > TURNS) return { text: FINDING };
    const said = turn === 3 ? FACT : 'nothing';
    const command = `echo ${said}; seq ${turn * 1_000} ${turn * 1_000 + 700}`;
    return { calls: [{ name: 'sandbox_exec', arguments: { command } }] };
  };
}

function transcript(): Record<string, unknown>[] {
  const [file = ''] = globSync('sessions/**/transcript.jsonl', { cwd: scene.folder });
  const lines = readFileSync(join(scene.folder, file), 'utf8').trim().split('\n');
  return lines.map((line) => JSON.parse(line));
}
