import type { ModelRequest } from '../agent/model.ts';

/** What of a request decides the answer, and can be written down. */
export type AskedRequest = Omit<ModelRequest, 'signal' | 'onDelta' | 'onEvent'>;

/** Always in the same order, so that the same request is the same text. */
export function toAskedRequest(request: ModelRequest): AskedRequest {
  const { system, tools, messages, toolsDisabled, transient, maxOutputTokens } = request;
  return {
    system,
    tools,
    messages,
    toolsDisabled,
    ...(transient !== undefined && { transient }),
    maxOutputTokens,
  };
}

export function toReadableJson(value: unknown): string {
  return `${JSON.stringify(value, null, 2)}\n`;
}

/** `0001`, so that names are in the order of the calls. */
export function toCallName(call: number): string {
  return `${call}`.padStart(4, '0');
}
