import { type DestinationStream, type Logger, pino } from 'pino';
import { RedactionError, type Redactor } from '../redact/redactor.ts';

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

/** The same log, without secrets in any of its lines, whoever made it. */
export function redactLog(log: Logger, redactor: Redactor): Logger {
  const { streamSym } = pino.symbols;
  const target = (log as unknown as Record<symbol, DestinationStream>)[streamSym];
  if (!target) throw new Error('this logger writes nowhere; make it with createLogger');
  const redacted = log.child({});
  const write = (line: string): void => void target.write(redactLine(line, redactor));
  // Children take over where their parent writes to.
  Object.defineProperty(redacted, streamSym, { value: Object.assign(Object.create(target), { write }) });
  return redacted;
}

/** As JSON, so that a value is judged by its name, and the line stays one object. */
function redactLine(line: string, redactor: Redactor): string {
  try {
    return `${JSON.stringify(redactor.value(JSON.parse(line)))}\n`;
  } catch (error) {
    const why = error instanceof RedactionError ? error.message : 'it is not JSON';
    return `${JSON.stringify({ level: 'error', msg: 'a line of the log was withheld', why })}\n`;
  }
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
