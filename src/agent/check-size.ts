import { mostTokens } from './estimate.ts';
import { ModelError, type ModelRequest } from './model.ts';

/** Throws what a model would that can not take it; nobody was asked. */
export function checkSize(request: ModelRequest, model: string): void {
  const { contextLimit = Number.POSITIVE_INFINITY } = request;
  if (mostTokens(request, model) <= contextLimit) return;
  const rest = { ...request, messages: [] };
  const message =
    mostTokens(rest, model) > contextLimit / 2
      ? `The instructions and the tools alone may be ${mostTokens(rest, model)} tokens: context_limit of the workflow, ${contextLimit}, is too low`
      : `The conversation may be more than ${contextLimit} tokens for ${model}`;
  throw new ModelError('too-long', message, { unbilled: true });
}
