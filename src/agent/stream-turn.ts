import type { AgentEvent } from './events.ts';
import type { Model, ModelRequest, ModelTurn } from './model.ts';

/** One turn of the model as a stream: what it writes comes out while it writes. */
export async function* streamTurn(
  model: Model,
  request: Omit<ModelRequest, 'onDelta' | 'onEvent'>,
): AsyncGenerator<AgentEvent, ModelTurn> {
  const waiting: AgentEvent[] = [];
  let wake = Promise.withResolvers<void>();
  let isDone = false;
  const report = (event: AgentEvent): void => {
    waiting.push(event);
    wake.resolve();
  };
  const turn = model
    .generate({
      ...request,
      onDelta: ({ kind, text }) => report({ type: `${kind}-delta`, text }),
      onEvent: report,
    })
    .finally(() => {
      isDone = true;
      wake.resolve();
    });
  // Whoever awaits the turn below hears of its failure; until then nobody does.
  turn.catch(() => undefined);
  while (!isDone || waiting.length > 0) {
    await wake.promise;
    wake = Promise.withResolvers();
    if (isDone) wake.resolve();
    yield* waiting.splice(0);
  }
  return turn;
}
