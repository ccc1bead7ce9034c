// Runs the loop on a script, and keeps everything that can be seen of it.
import type { AgentEvent } from '../../../src/agent/events.ts';
import { type LoopOptions, type LoopResult, runLoop } from '../../../src/agent/loop.ts';
import type { Message } from '../../../src/agent/messages.ts';
import { type ScriptedTurn, scriptedModel, scriptedTools } from './scripted.ts';

export async function run(
  turns: ScriptedTurn[] | ((index: number) => ScriptedTurn),
  options: Partial<LoopOptions> = {},
) {
  const { model, requests } = scriptedModel(turns);
  const { toolbox, executed } = scriptedTools();
  const messages: Message[] = options.messages ?? [{ role: 'user', content: '{"iid":7}' }];
  const saved: Message[][] = [];
  const loop = runLoop({
    model,
    toolbox,
    system: 'the system text',
    maxIterations: 10,
    contextLimit: 1_000,
    maxOutputTokens: 100,
    checkpoint: async (all) => void saved.push(structuredClone([...all])),
    signal: new AbortController().signal,
    ...options,
    messages,
  });
  const { events, result } = await drain(loop);
  return { result, events, requests, executed, messages, saved };
}

export async function drain(loop: AsyncGenerator<AgentEvent, LoopResult>) {
  const events: AgentEvent[] = [];
  while (true) {
    const next = await loop.next();
    if (next.done) return { events, result: next.value };
    events.push(next.value);
  }
}

export function typesOf(events: readonly AgentEvent[]): string[] {
  return events.map(({ type }) => type);
}
