import type { Ledger } from '../agent/ledger.ts';
import { type Model, ModelError, type ModelRequest, type ModelTurn } from '../agent/model.ts';
import { PermanentError } from '../errors.ts';
import { toAskedRequest } from './asked-request.ts';
import { findDifference } from './find-difference.ts';
import type { ModelRole, RecordedAnswer, RecordedCall } from './recorded-call.ts';
import type { Recording } from './recording.ts';

export interface Replay {
  /** Answers what was recorded for this role, as long as the calls of all roles come as they came then. */
  open(role: ModelRole, ledger: Ledger): Model;
  /** Throws unless every call was made again, as it was recorded. */
  assertComplete(): void;
}

/** A recorded run without the models it had: nobody else is needed for it. */
export function createReplay({ dir, calls }: Omit<Recording, 'startedAtMs'>): Replay {
  let answered = 0;
  let failure: ModelError | null = null;

  function take(role: ModelRole, request: ModelRequest): RecordedCall {
    if (failure) throw failure;
    const call = calls[answered];
    const difference = call ? describeDifference(call, role, request) : 'is one more than were recorded';
    if (call && difference === null) {
      answered += 1;
      return call;
    }
    // Kept: a side call may fail without the run hearing of it.
    failure = new ModelError('stop', `${notThatRun(dir)}: call ${answered + 1} ${difference}. ${ADVICE}`);
    throw failure;
  }

  return {
    open(role, ledger) {
      let name = calls.find((call) => call.role === role)?.model ?? role;
      return {
        get name() {
          return name;
        },
        // The money was what it was then.
        canGoOn: async () => calls[answered]?.couldGoOn ?? true,
        async generate(request) {
          request.signal.throwIfAborted();
          const { events, answer, model, costMicroUsd } = take(role, request);
          name = model;
          const settle = await ledger.reserve(costMicroUsd);
          await settle(costMicroUsd);
          for (const event of events) request.onEvent?.(event);
          const turn = toTurn(answer);
          if (turn.message.content !== '') request.onDelta?.({ kind: 'text', text: turn.message.content });
          return turn;
        },
      };
    },
    assertComplete() {
      if (failure) throw new PermanentError(failure.message, { cause: failure });
      if (answered === calls.length) return;
      const end = `it ended after ${answered} of ${calls.length} calls`;
      throw new PermanentError(`${notThatRun(dir)}: ${end}. ${ADVICE}`);
    },
  };
}

const ADVICE =
  'Something it depends on has changed: the data in GitLab, the workflow, the configuration or the program; ' +
  'or a command printed what is never the same twice. If that is right, record anew.';

function notThatRun(dir: string): string {
  return `The run is not the one recorded in ${dir}`;
}

function describeDifference(call: RecordedCall, role: ModelRole, request: ModelRequest): string | null {
  if (call.role !== role) return `is for the ${role} model, and was for the ${call.role} one`;
  const now = JSON.stringify(toAskedRequest(request));
  if (now === JSON.stringify(call.request)) return null;
  const { place, before, now: current } = findDifference(call.request, JSON.parse(now));
  return `differs at ${place}: recorded ${before}, now ${current}`;
}

function toTurn(answer: RecordedAnswer): ModelTurn {
  if ('turn' in answer) return answer.turn;
  const { kind, message, ...more } = answer.error;
  throw new ModelError(kind, message, more);
}
