import { untilAborted } from '../deadline.ts';
import type { RunView } from './hooks.ts';
import type { Model } from './model.ts';

export interface SideQuestion {
  system: string;
  prompt: string;
  maxOutputTokens: number;
  /** Nothing that is only useful may use up the time of the run. */
  maxWaitMs: number;
}

/** One question to a model beside the conversation; counted with the run. Throws what the model throws, or a time-out. */
export async function askSide(
  side: Model,
  purpose: string,
  run: RunView,
  { system, prompt, maxOutputTokens, maxWaitMs }: SideQuestion,
): Promise<string> {
  const signal = AbortSignal.any([run.signal, AbortSignal.timeout(maxWaitMs)]);
  const { message, usage } = await untilAborted(
    side.generate({
      system,
      messages: [{ role: 'user', content: prompt }],
      tools: [],
      toolsDisabled: false,
      maxOutputTokens,
      signal,
      onEvent: (event) => run.report(event),
    }),
    signal,
  );
  run.spend(usage);
  run.report({ type: 'usage', purpose, model: side.name, usage });
  return message.content.trim();
}
