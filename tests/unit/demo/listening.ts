import type { HookEvent } from '../../../src/demo/gitlab/hook.ts';
import { type Received, receiveHooks } from './hook-receiver.ts';
import { createScene } from './scene.ts';

/** A scene with a receiver of the given events, or of all. */
export async function createListening(...events: readonly HookEvent[]) {
  const receiver = await receiveHooks();
  const scene = await createScene();
  scene.gitlab.addHook({
    projectId: scene.project.id,
    url: receiver.url,
    token: 'hush',
    events: events.length === 0 ? EVENTS : events,
  });
  return {
    ...scene,
    /** Does it and tells what arrived because of it. */
    after: async (act: () => unknown): Promise<Received[]> => {
      const known = receiver.received.length;
      await act();
      await scene.gitlab.idle();
      return receiver.received.slice(known);
    },
    [Symbol.asyncDispose]: async () => {
      await scene.gitlab.close();
      await receiver[Symbol.asyncDispose]();
    },
  };
}

const EVENTS: readonly HookEvent[] = [
  'push_events',
  'merge_requests_events',
  'note_events',
  'confidential_note_events',
  'pipeline_events',
  'job_events',
  'emoji_events',
];
