import { afterEach, describe, expect, test } from 'vitest';
import { run, stopProcesses } from './service-process.ts';
import {
  addHook,
  arrangeStopped,
  ask,
  failPipeline,
  investigate,
  lastRequest,
  noteOf,
  notes,
  PROVIDERS,
  REPLY,
  scene,
} from './story-scene.ts';

afterEach(stopProcesses);

describe.each(PROVIDERS)('with %s', (provider) => {
  test('a reply is answered by another process than the one that wrote the note, with history and files', async () => {
    await arrangeStopped({ provider });
    const first = await run(scene, 'all');
    addHook(first.url);
    const { jobId } = failPipeline();
    scene.model.script = investigate(jobId);
    const note = await noteOf(0);
    expect(await first.end()).toBe(0);

    const second = await run(scene, 'all');
    expect(second.pid).not.toBe(first.pid);
    addHook(second.url);
    ask(note.discussionId, 'And now?');
    const answer = await noteOf(1);
    expect(answer).toMatchObject({
      discussionId: note.discussionId,
      body: expect.stringContaining(REPLY),
    });
    expect(lastRequest()).toContain('"session_id"');
    expect(lastRequest()).toContain('2001:AssertionError: expected 10.00 to equal 10.01');
    expect(await second.end()).toBe(0);
    expect(notes()).toHaveLength(2);
  }, 60_000);
});
