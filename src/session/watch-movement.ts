export interface Movement {
  controller: AbortController;
  moved: () => void;
  stop: () => void;
}

/** Aborts when nothing has moved for so long. */
export function watchMovement(maxPauseMs: number): Movement {
  const controller = new AbortController();
  const timer = setTimeout(() => controller.abort(), maxPauseMs).unref();
  return { controller, moved: () => void timer.refresh(), stop: () => clearTimeout(timer) };
}
