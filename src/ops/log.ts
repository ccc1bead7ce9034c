import { type Logger, pino } from 'pino';

/** Constant messages with fields, one JSON object a line, to standard output if not told otherwise. */
export function createLogger(level: string, destination: NodeJS.WritableStream = process.stdout): Logger {
  const options = {
    level,
    base: { service: 'hummingbird', pid: process.pid },
    timestamp: pino.stdTimeFunctions.isoTime,
    formatters: { level: (label: string) => ({ level: label }) },
    // Errors of libraries may carry whole requests; their message, kind and stack are enough.
    serializers: { err: toLoggedError },
  };
  return pino(options, destination);
}

function toLoggedError(error: unknown): unknown {
  if (!(error instanceof Error)) return error;
  return {
    type: error.name,
    message: error.message,
    stack: error.stack,
    ...(error.cause instanceof Error && { cause: toLoggedError(error.cause) }),
  };
}
