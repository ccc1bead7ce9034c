export interface ToolLimits {
  /** Larger answers and outputs go to a file; the model sees a preview of about this size. */
  maxInlineBytes: number;
  /** What a command prints beyond this, on each stream, is dropped. */
  maxOutputBytes: number;
  /** For a command that asks for no time of its own. */
  commandTimeoutMs: number;
  maxCommandTimeoutMs: number;
  maxParallelFetches: number;
  /** Of one call to a source, all its pages and tries together; then for reading what it streams. */
  maxReadMs: number;
  maxStreamMs: number;
}

/** Of one answer the model sees at once about this much: enough to go on with, and little beside the context. */
export const PREVIEW_BYTES = 4_096;

export const DEFAULT_LIMITS: ToolLimits = {
  maxInlineBytes: PREVIEW_BYTES,
  maxOutputBytes: 8 * 1024 * 1024,
  commandTimeoutMs: 60_000,
  maxCommandTimeoutMs: 120_000,
  maxParallelFetches: 6,
  maxReadMs: 300_000,
  maxStreamMs: 900_000,
};
