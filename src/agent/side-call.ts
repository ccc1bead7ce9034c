import { untilAborted } from '../deadline.ts';
import type { RunView } from './hooks.ts';
import type { Model } from './model.ts';

export interface SideQuestion {
  system: string;
  prompt: string;
  maxOutputTokens: number;
}

/** One question to a model beside the conversation; counted with the run. Throws what the model throws. */
export async function askSide(
  side: Model,
  purpose: string,
  run: RunView,
  { system, prompt, maxOutputTokens }: SideQuestion,
): Promise<string> {
  const { message, usage } = await untilAborted(
    side.generate({
      system,
      messages: [{ role: 'user', content: prompt }],
      tools: [],
      toolsDisabled: false,
      maxOutputTokens,
      signal: run.signal,
      onEvent: (event) => run.report(event),
    }),
    run.signal,
  );
  run.spend(usage);
  run.report({ type: 'usage', purpose, model: side.name, usage });
  return message.content.trim();
}
