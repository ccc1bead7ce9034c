import type { Toolbox } from '../../../src/agent/toolbox.ts';

/** Calls a tool as the loop does. */
export async function call(
  toolbox: Toolbox,
  name: string,
  args: Record<string, unknown> = {},
  signal = never(),
) {
  const { result, isError } = await callWhole(toolbox, name, args, signal);
  return { result, isError };
}

/** The same, with what is remembered of the answer's origin. */
export function callWhole(
  toolbox: Toolbox,
  name: string,
  args: Record<string, unknown> = {},
  signal = never(),
) {
  return toolbox.execute({ id: 'call-1', name, arguments: args }, { signal });
}

function never(): AbortSignal {
  return new AbortController().signal;
}
