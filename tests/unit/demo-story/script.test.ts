import { Bash } from 'just-bash';
import { expect, test } from 'vitest';
import type { FailedPipeline } from '../../../src/demo/story/pipeline.ts';
import { createScript, type ScriptedTurn } from '../../../src/demo/story/script.ts';
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

  expect(note).toMatch(/^\*\*Verdict: caused by this merge request\.\*\*/);
  expect(note).toContain(`${jobs.unitTests.url}#L${jobs.unitTests.log.lines.assertion}`);
  expect(note).toContain(`${jobs.integrationTests.url}#L${jobs.integrationTests.log.lines.mismatch}`);
  expect(note).toContain(`${jobs.unitTests.log.lines.assertion}: AssertionError: expected 1512 to be 1513`);
  expect(note).toContain('"type":"LedgerMismatch","message":"order total 1512 differs from the 1513');
  for (const part of ['### Why', '### What to do', '**Confidence:**', '**Not available:**']) {
    expect(note).toContain(part);
  }
});

test('there is no script before the pipeline failed', async () => {
  await using scene = await createStory();

  expect(() => createScript(scene.story)).toThrow('has not failed yet');
});

function filesOf({ jobs }: FailedPipeline): Record<string, string> {
  const { unitTests, integrationTests, e2eSmokeFirstTry, docsSpelling } = jobs;
  return Object.fromEntries(
    [unitTests, integrationTests, e2eSmokeFirstTry, docsSpelling].map(({ name, log }) => [
      `/tmp/data/${name}.log`,
      log.text,
    ]),
  );
}
