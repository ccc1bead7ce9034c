import type { BashOptions } from 'just-bash';

/**
 * What a command may use, every limit of the shell named so that a new one is a type error here. Counts of
 * steps are high: the clock ends what runs long, and a log has many lines. Sizes are what protects memory.
 */
export function toShellLimits({
  maxBytes,
  timeoutMs,
}: Caps): Required<NonNullable<BashOptions['executionLimits']>> {
  return {
    maxCommandCount: MANY_STEPS,
    maxLoopIterations: MANY_STEPS,
    maxAwkIterations: MANY_STEPS,
    maxSedIterations: MANY_STEPS,
    maxJqIterations: MANY_STEPS,
    maxWorkUnits: MANY_STEPS,
    maxGlobOperations: MANY_STEPS,
    maxTraversalWork: MANY_STEPS,
    maxTraversalEntries: 1_000_000,
    maxAwkParserOperations: 1_000_000,
    maxInputBytes: 64 * GIB,

    maxSourceBytes: MIB,
    maxHeredocSize: 16 * MIB,
    maxStringLength: 256 * MIB,
    maxOutputSize: 256 * MIB,
    maxLiveBytes: GIB,
    maxFileSystemBytes: maxBytes,
    maxArchiveBytes: maxBytes,
    maxArchiveCompressedBytes: maxBytes,
    maxArchiveEntryBytes: maxBytes,
    maxArchiveEntries: 100_000,
    maxArrayElements: 5_000_000,
    maxQueryElements: 5_000_000,
    maxQueryTokens: 100_000,
    maxAwkParserTokens: 100_000,
    maxCsvRows: 1_000_000,
    maxCsvCells: 10_000_000,
    maxBraceExpansionResults: 100_000,
    maxFileDescriptors: 1024,

    maxExecDepth: 64,
    maxCallDepth: 200,
    maxSourceDepth: 100,
    maxSubstitutionDepth: 50,
    maxQueryDepth: 1000,
    maxAwkParserDepth: 256,
    maxTraversalDepth: 1000,

    // The clock that counts runs outside, where a busy loop can not hold it up. This one is for a process
    // whose service has died meanwhile.
    maxExecutionTimeMs: timeoutMs + 5000,
    maxExtensionCleanupTimeMs: 100,

    // These are not among the shell's commands; should they ever be, they start small.
    maxDatabaseBytes: MIB,
    maxDatabaseResultBytes: MIB,
    maxWorkerMessageBytes: MIB,
    maxSqliteTimeoutMs: 5000,
    maxPythonTimeoutMs: 5000,
    maxJsTimeoutMs: 5000,
  };
}

interface Caps {
  maxBytes: number;
  timeoutMs: number;
}

const MIB = 1024 * 1024;
const GIB = 1024 * MIB;
const MANY_STEPS = 1_000_000_000;
