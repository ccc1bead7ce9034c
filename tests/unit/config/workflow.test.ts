import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { loadConfig } from '../../../src/config/config.ts';
import { loadWorkflow } from '../../../src/config/workflow.ts';

function load(text: string) {
  const dir = mkdtempSync(join(tmpdir(), 'hummingbird-workflow-'));
  writeFileSync(join(dir, 'mine.md'), text);
  return loadWorkflow({ workflows: { dir, onFailedPipeline: 'mine' } }, 'mine');
}

describe('a workflow', () => {
  test('of the installation can be loaded by the default configuration', () => {
    const { config } = loadConfig({ cwd: tmpdir(), env: {} });
    const workflow = loadWorkflow(config, config.workflows.onFailedPipeline);
    expect(workflow).toMatchObject({ name: 'analyze-failures', on: ['pipeline_failed', 'mention'] });
    expect(workflow.maxIterations).toBe(50);
    expect(workflow.prompt).toMatch(/^# Workflow/);
  });

  test('is front matter and a prompt', () => {
    expect(load('---\non: [pipeline_failed]\nmax_iterations: 7\n---\nDo it.\n')).toEqual({
      name: 'mine',
      on: ['pipeline_failed'],
      model: null,
      tools: null,
      maxIterations: 7,
      contextLimit: 150_000,
      maxOutputTokens: 16_000,
      maxMinutes: 60,
      compactAt: 0.75,
      gate: 'checks',
      keep: [],
      prompt: 'Do it.',
    });
  });

  test('may name folders that are kept with the session', () => {
    expect(load('---\non: [mention]\nkeep: [/tmp/report]\n---\nDo it.').keep).toEqual(['/tmp/report']);
  });

  test('may name its model and its tools', () => {
    const text = '---\non: [mention]\nmodel: gemini-3.8-flash\ntools: [sandbox_exec, gitlab_*]\n---\nDo it.';
    expect(load(text)).toMatchObject({ model: 'gemini-3.8-flash', tools: ['sandbox_exec', 'gitlab_*'] });
  });

  test.each([
    ['Do it.', 'must begin with front matter'],
    ['---\non: [pipeline_failed]\n---\n\n', 'must begin with front matter'],
    ['---\non: [full_moon]\n---\nDo it.', 'on'],
    ['---\non: [mention]\nkeep: [/etc]\n---\nDo it.', 'below /tmp'],
    ['---\non: [mention]\nkeep: [/tmp/../etc]\n---\nDo it.', 'below /tmp'],
    ['---\non: [pipeline_failed]\nmax_iteration: 7\n---\nDo it.', 'max_iteration'],
  ])('%j is refused, naming file and mistake', (text, message) => {
    expect(() => load(text)).toThrow(message);
    expect(() => load(text)).toThrow('mine.md');
  });

  test('that is not there is refused with the setting to check', () => {
    const workflows = { dir: '/nowhere', onFailedPipeline: 'mine' };
    expect(() => loadWorkflow({ workflows }, 'mine')).toThrow('check workflows.dir');
  });
});
