import type { ModelError, ModelRequest, ModelTurn } from '../agent/model.ts';
import { checkHistory } from './check-history.ts';
import { createWatchdog, type Watchdog } from './watchdog.ts';

export interface AskOptions {
  /** How long the model may be silent. */
  silenceMs: number;
  toError: (error: unknown) => ModelError;
}

/** What is the same around every adapter's request: nothing malformed goes out, silence and aborts end it, errors have a kind. */
export async function askVendor(
  request: ModelRequest,
  { silenceMs, toError }: AskOptions,
  ask: (watchdog: Watchdog) => Promise<ModelTurn>,
): Promise<ModelTurn> {
  request.signal.throwIfAborted();
  checkHistory(request);
  const watchdog = createWatchdog(request.signal, silenceMs);
  try {
    const turn = await ask(watchdog);
    // Read to its end, nothing is left of it.
    watchdog.stop();
    return turn;
  } catch (error) {
    const { aborted, reason } = watchdog.signal;
    watchdog.giveUp();
    throw aborted ? reason : toError(error);
  }
}
