import { checkSize } from '../agent/check-size.ts';
import { type Model, ModelError, type ModelRequest } from '../agent/model.ts';
import { PermanentError } from '../errors.ts';

/** The first of the models that answers. One that failed is not asked again: a run stays with its successor. */
export function withFallback(models: readonly Model[]): Model {
  let [first, ...others] = models;
  if (!first) throw new PermanentError('A chain of models needs at least one');
  let current = first;
  const failures: ModelError[] = [];
  return {
    get name() {
      return current.name;
    },
    canGoOn: async (request) => (await current.canGoOn?.(request)) ?? true,
    async generate(request: ModelRequest) {
      while (true) {
        try {
          return await current.generate(request);
        } catch (error) {
          request.signal.throwIfAborted();
          if (!(error instanceof ModelError) || !mayWorkElsewhere(error)) throw error;
          const [next, ...rest] = others;
          if (!next) throw failures.length === 0 ? error : toLastError([...failures, error]);
          failures.push(error);
          request.onEvent?.({
            type: 'fallback',
            from: current.name,
            to: next.name,
            reason: error.message,
          });
          current = next;
          others = rest;
          // What one model has counted may be more for another.
          checkSize(request, next.name);
        }
      }
    },
  };
}

/** Neither a wrong request nor one that is too long gets better by being sent to somebody else. */
function mayWorkElsewhere({ kind }: ModelError): boolean {
  return kind === 'retry' || kind === 'switch';
}

/** If any of them may come back, so may the chain: at the earliest when the first of them asked for. */
function toLastError(failures: readonly ModelError[]): ModelError {
  const temporary = failures.filter(({ kind }) => kind === 'retry');
  const last = temporary.at(-1) ?? failures.at(-1);
  const waits = temporary.map(({ retryAfterMs }) => retryAfterMs ?? 0);
  const retryAfterMs = Math.min(...waits);
  return new ModelError(temporary.length > 0 ? 'retry' : 'switch', describe(failures), {
    cause: last,
    ...(retryAfterMs > 0 && Number.isFinite(retryAfterMs) && { retryAfterMs }),
  });
}

function describe(failures: readonly ModelError[]): string {
  return failures.map(({ message }) => message).join('; ');
}
