import type { Delta, Model } from '../agent/model.ts';
import { redactMessage } from '../redact/redact-message.ts';
import type { Redactor } from '../redact/redactor.ts';

/** The same model, whose words and arguments have no secrets in them, neither while it writes nor when it is done. */
export function withRedaction(model: Model, redactor: Redactor): Model {
  return {
    get name() {
      return model.name;
    },
    ...(model.canGoOn && { canGoOn: model.canGoOn.bind(model) }),
    async generate(request) {
      const { onDelta, onEvent } = request;
      let deltas = createDeltas(redactor, onDelta);
      const turn = await model.generate({
        ...request,
        ...(onDelta && { onDelta: (delta) => deltas.push(delta) }),
        onEvent(event) {
          // What was heard before does not count any more.
          deltas = createDeltas(redactor, onDelta);
          onEvent?.(event);
        },
      });
      deltas.end();
      return { ...turn, message: redactMessage(turn.message, redactor) };
    },
  };
}

/** Pieces of a turn, each passed on once nothing that follows can make a secret of it. */
function createDeltas(redactor: Redactor, onDelta: ((delta: Delta) => void) | undefined) {
  const open = new Map<string, { delta: Delta; pieces: ReturnType<Redactor['pieces']> }>();
  const tell = (delta: Delta, text: string): void => {
    if (text !== '') onDelta?.({ ...delta, text });
  };
  return {
    push(delta: Delta): void {
      const key = delta.kind === 'call' ? `call ${delta.name}` : delta.kind;
      const { pieces } = open.get(key) ?? { pieces: redactor.pieces() };
      open.set(key, { delta, pieces });
      tell(delta, pieces.push(delta.text));
    },
    end(): void {
      for (const { delta, pieces } of open.values()) tell(delta, pieces.end());
    },
  };
}
