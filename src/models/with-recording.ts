import type { Ledger } from '../agent/ledger.ts';
import { type Model, ModelError, type ModelEvent } from '../agent/model.ts';
import { toAskedRequest } from './asked-request.ts';
import type { ModelRole, RecordedAnswer } from './recorded-call.ts';
import type { NewRecording } from './recording.ts';

/** The same model, with every call written down before its answer is passed on. One that was aborted is not. */
export function withRecording(
  model: Model,
  {
    save,
    role,
    ledger,
  }: Pick<NewRecording, 'save'> & { role: ModelRole; ledger: Pick<Ledger, 'spentMicroUsd'> },
): Model {
  let couldGoOn = true;
  return {
    get name() {
      return model.name;
    },
    async canGoOn(request) {
      couldGoOn = (await model.canGoOn?.(request)) ?? true;
      return couldGoOn;
    },
    async generate(request) {
      const events: ModelEvent[] = [];
      const spentBefore = ledger.spentMicroUsd();
      const keep = (answer: RecordedAnswer): Promise<void> => {
        const costMicroUsd = ledger.spentMicroUsd() - spentBefore;
        return save({
          role,
          model: model.name,
          request: toAskedRequest(request),
          events,
          couldGoOn,
          costMicroUsd,
          answer,
        });
      };
      const onEvent = (event: ModelEvent): void => {
        events.push(event);
        request.onEvent?.(event);
      };
      try {
        const turn = await model.generate({ ...request, onEvent });
        await keep({ turn });
        return turn;
      } catch (error) {
        if (error instanceof ModelError) await keep({ error: fromError(error) });
        throw error;
      }
    },
  };
}

function fromError({ kind, message, retryAfterMs }: ModelError) {
  return { kind, message, ...(retryAfterMs !== undefined && { retryAfterMs }) };
}
