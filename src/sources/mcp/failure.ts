import { StreamableHTTPError } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { ErrorCode, McpError } from '@modelcontextprotocol/sdk/types.js';
import { PermanentError, RetryableError } from '../../errors.ts';
import { toErrorWords } from './secrets.ts';
import type { McpServer } from './server.ts';

/** What failed, in words; secrets of ours that were echoed are taken out. */
export function toMcpError(server: McpServer, what: string, cause: unknown): Error {
  if (cause instanceof RetryableError || cause instanceof PermanentError) return cause;
  const message = `MCP server ${server.name}, ${what}: ${toErrorWords(server, wordsOf(cause))}`;
  return isPermanent(cause) ? new PermanentError(message, { cause }) : new RetryableError(message, { cause });
}

/** Also a session that the server has forgotten, which is a 404 over HTTP. */
export function isLostConnection(error: unknown): boolean {
  if (error instanceof McpError) return error.code === ErrorCode.ConnectionClosed;
  if (error instanceof StreamableHTTPError) return error.code === 404;
  return error instanceof Error && (error.message === 'Not connected' || error.message === 'fetch failed');
}

/** A program that can not be started, an answer that is too large. */
const FINAL_CODES = new Set<unknown>(['ENOENT', 'EACCES', 'UND_ERR_RES_EXCEEDED_MAX_SIZE']);

function isPermanent(error: unknown): boolean {
  if (error instanceof McpError)
    return ![ErrorCode.ConnectionClosed, ErrorCode.RequestTimeout].includes(error.code);
  if (error instanceof StreamableHTTPError) return (error.code ?? 500) >= 400 && (error.code ?? 500) < 429;
  return [error, error instanceof Error ? error.cause : undefined].some(
    (one) => one instanceof Error && 'code' in one && FINAL_CODES.has(one.code),
  );
}

function wordsOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const inner = error.cause instanceof Error ? ` (${error.cause.message})` : '';
  const status = error instanceof StreamableHTTPError && error.code ? `it answered ${error.code}. ` : '';
  return `${status}${error.message}${inner}`;
}
