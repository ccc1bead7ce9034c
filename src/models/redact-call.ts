import { redactMessage } from '../redact/redact-message.ts';
import type { Redactor } from '../redact/redactor.ts';
import type { RecordedCall } from './recorded-call.ts';

/** Nothing is left to remove of what was asked and answered, if all before it did their work; errors tell anything. */
export function redactCall(call: RecordedCall, redactor: Redactor): RecordedCall {
  const { request, events, answer } = call;
  return {
    ...call,
    request: {
      ...request,
      system: redactor.text(request.system),
      ...(request.transient !== undefined && { transient: redactor.text(request.transient) }),
      messages: request.messages.map((message) => redactMessage(message, redactor)),
    },
    events: redactor.value(events),
    answer:
      'turn' in answer
        ? { turn: { ...answer.turn, message: redactMessage(answer.turn.message, redactor) } }
        : { error: { ...answer.error, message: redactor.text(answer.error.message) } },
  };
}
