const DAY_MS = 24 * 3_600_000;

/** How long records are kept, on every backend. Costs outlive every day, merge request and run they are budgeted for. */
export const KEEP_MS = {
  runs: 90 * DAY_MS,
  costs: 400 * DAY_MS,
  causes: 400 * DAY_MS,
  feedback: 400 * DAY_MS,
};
