import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Bash } from 'just-bash';
import { expect, test } from 'vitest';
import { KONFLUX_LOG, KONFLUX_RUN } from '../../../src/demo/story/konflux-run.ts';
import type { FailedPipeline } from '../../../src/demo/story/pipeline.ts';
import { createScript, KONFLUX_LOG_FILE, type ScriptedTurn } from '../../../src/demo/story/script.ts';
import { createStory } from './story.ts';

test('the commands of the script find in the real logs what its notes quote', async () => {
  await using scene = await createStory();
  const pipeline = await scene.story.failPipeline();
  const script = createScript(scene.story);
  const shell = new Bash({ files: filesOf(pipeline) });
  const run = async (turns: readonly ScriptedTurn[]): Promise<string> => {
    const outputs: string[] = [];
    for (const call of turns.flatMap((turn) => turn.calls)) {
      if (call.name !== 'sandbox_exec') continue;
      const { stdout, stderr } = await shell.exec(String(call.args.command));
      expect(stderr).toBe('');
      // More would be shown in part only.
      expect(Buffer.byteLength(stdout)).toBeLessThan(4_000);
      outputs.push(stdout);
    }
    return outputs.join('\n');
  };
  const { unitTests, integrationTests, e2eSmokeFirstTry } = pipeline.jobs;

  const seen = await run(script.analysis);
  expect(seen).toContain(`unit-tests.log:${unitTests.log.lines.assertion}:`);
  expect(seen).toContain(`integration-tests.log:${integrationTests.log.lines.mismatch}:`);
  expect(seen).toContain(`e2e-smoke.log:${e2eSmokeFirstTry.log.lines.timeout}:`);
  expect(seen).toContain('reedem');
  expect(seen).toContain('+ 1512');
  expect(seen).toContain(`7:${KONFLUX_RUN.assertion}`);

  const seenLater = await run(script.reply);
  for (const key of ['stall', 'timeout', 'connection'] as const) {
    expect(seenLater).toMatch(new RegExp(`^${e2eSmokeFirstTry.log.lines[key]}:`, 'm'));
  }
  expect(seenLater).not.toMatch(/LedgerMismatch|AssertionError/);
});

test('the note names the verdict, links to lines, and says what it could not see', async () => {
  await using scene = await createStory();
  const { jobs } = await scene.story.failPipeline();

  const note = createScript(scene.story).analysis.at(-1)?.text ?? '';

  expect(note).toMatch(/^\*\*Verdict: caused by this merge request: [^*]+\.\*\*\n/);
  expect(note).toContain(`${jobs.unitTests.url}#L${jobs.unitTests.log.lines.assertion}`);
  expect(note).toContain(`${jobs.integrationTests.url}#L${jobs.integrationTests.log.lines.mismatch}`);
  expect(note).toContain(`${jobs.unitTests.log.lines.assertion}: AssertionError: expected 1512 to be 1513`);
  expect(note).toContain('"type":"LedgerMismatch","message":"order total 1512 differs from the 1513');
});

test('the note is built as the workflow asks for it', async () => {
  await using scene = await createStory();
  await scene.story.failPipeline();
  const workflow = readFileSync(join(import.meta.dirname, '../../../workflows/analyze-failures.md'), 'utf8');
  const [, wanted = ''] = workflow.split('## What the note must contain');

  const note = createScript(scene.story).analysis.at(-1)?.text ?? '';

  const parts = [...wanted.matchAll(/\*\*([A-Z][\w ]+)\*\*:/g)].map(([, name]) => name);
  expect(parts).toHaveLength(7);
  const headings = note.matchAll(/^(?:### (.+)|\*\*(Verdict|Confidence|Not available):.*)$/gm);
  expect([...headings].map(([, heading, label]) => heading ?? label)).toEqual(parts);
  const [, alsoSeen = ''] = /### Also seen\n\n([\s\S]*?)\n\n/.exec(note) ?? [];
  expect(alsoSeen.split('\n')).toEqual(Array(3).fill(expect.stringMatching(/^- /)));
  expect(note.split('\n').filter((line) => line !== '').length).toBeLessThanOrEqual(40);
});

test('there is no script before the pipeline failed', async () => {
  await using scene = await createStory();

  expect(() => createScript(scene.story)).toThrow('has not failed yet');
});

function filesOf({ jobs }: FailedPipeline): Record<string, string> {
  const { unitTests, integrationTests, e2eSmokeFirstTry, docsSpelling } = jobs;
  const files = [unitTests, integrationTests, e2eSmokeFirstTry, docsSpelling].map(({ name, log }) => [
    `/tmp/data/${name}.log`,
    log.text,
  ]);
  return { ...Object.fromEntries(files), [KONFLUX_LOG_FILE]: KONFLUX_LOG };
}
