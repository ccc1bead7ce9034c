import { StreamableHTTPError } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { ErrorCode, McpError } from '@modelcontextprotocol/sdk/types.js';
import { PermanentError, RetryableError } from '../../errors.ts';
import { fromBrokenConnection, fromRefusal, isPassing } from '../../http/failure.ts';
import type { Try } from '../../http/repeat.ts';
import { toErrorWords } from './secrets.ts';
import type { McpServer } from './server.ts';

/** An answer that is none, and what it asks us to wait. */
export class RefusedError extends Error {
  override readonly name = 'RefusedError';
  readonly status: number;
  readonly askedMs: number | undefined;

  constructor(status: number, words: string, askedMs: number | undefined) {
    super(words);
    this.status = status;
    this.askedMs = askedMs;
  }
}

/** What failed, in words; secrets of ours that were echoed are taken out. */
export function toFailure(server: McpServer, what: string, cause: unknown): Failed {
  const who = nameOf(server);
  if (cause instanceof RefusedError) {
    const { status, message, askedMs } = cause;
    const refusal = { status, words: toErrorWords(server, message), isForeign: false, askedMs };
    return { kind: 'failed', status, failure: fromRefusal('GET', `${who}, ${what},`, refusal, who) };
  }
  // The call itself was never answered; that of a connection to a process is told by the SDK.
  const broken = cause instanceof TypeError && cause.message === 'fetch failed' ? cause.cause : undefined;
  if (broken !== undefined && !isFinal(broken))
    return { kind: 'failed', failure: fromBrokenConnection('GET', `${who}, ${what},`, broken, who) };
  return { kind: 'failed', failure: { error: toMcpError(server, what, cause), repeat: 'never' } };
}

type Failed = Extract<Try<never>, { kind: 'failed' }>;

export function nameOf({ name }: McpServer): string {
  return `MCP server ${name}`;
}

function toMcpError(server: McpServer, what: string, cause: unknown): RetryableError | PermanentError {
  if (cause instanceof RetryableError || cause instanceof PermanentError) return cause;
  const message = `${nameOf(server)}, ${what}: ${toErrorWords(server, wordsOf(cause))}`;
  return isPermanent(cause) ? new PermanentError(message, { cause }) : new RetryableError(message, { cause });
}

/** Also a session that the server has forgotten: a 404 over HTTP, of many servers a 400 that speaks of it. */
export function isLostConnection(error: unknown): boolean {
  if (error instanceof McpError) return error.code === ErrorCode.ConnectionClosed;
  if (error instanceof StreamableHTTPError)
    return error.code === 404 || (error.code === 400 && /session|initiali[sz]ed/i.test(error.message));
  return error instanceof Error && error.message === 'Not connected';
}

/** A program that can not be started, an answer that is too large. */
const FINAL_CODES = new Set<unknown>(['ENOENT', 'EACCES', 'UND_ERR_RES_EXCEEDED_MAX_SIZE']);

function isPermanent(error: unknown): boolean {
  if (error instanceof McpError)
    return ![ErrorCode.ConnectionClosed, ErrorCode.RequestTimeout].includes(error.code);
  if (error instanceof StreamableHTTPError)
    return (error.code ?? 500) >= 300 && !isPassing(error.code ?? 500);
  return isFinal(error) || (error instanceof Error && isFinal(error.cause));
}

function isFinal(error: unknown): boolean {
  if (error instanceof PermanentError) return true;
  return error instanceof Error && 'code' in error && FINAL_CODES.has(error.code);
}

function wordsOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const inner = error.cause instanceof Error ? ` (${error.cause.message})` : '';
  const status = error instanceof StreamableHTTPError && error.code ? `it answered ${error.code}. ` : '';
  return `${status}${error.message}${inner}`;
}
