import type { Toolbox } from '../../../src/agent/toolbox.ts';

/** Calls a tool as the loop does. */
export function call(toolbox: Toolbox, name: string, args: Record<string, unknown> = {}, signal = never()) {
  return toolbox.execute({ id: 'call-1', name, arguments: args }, { signal });
}

function never(): AbortSignal {
  return new AbortController().signal;
}
