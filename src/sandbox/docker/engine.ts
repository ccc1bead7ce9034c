import http from 'node:http';
import https from 'node:https';
import Docker from 'dockerode';
import { withDeadline } from '../../deadline.ts';
import { PermanentError, RetryableError } from '../../errors.ts';

export type EngineAddress = { socketPath: string } | { url: string };

const CALL_MS = 30_000;
const WHO = 'the container engine of the sandbox';

export function connectEngine(address: EngineAddress): Docker {
  // All of it is told, or the client would take it from the environment. No connection is kept: after a restart of
  // the engine the next call must not find an old one.
  const settings =
    'socketPath' in address
      ? { socketPath: address.socketPath, host: undefined, protocol: 'http', agent: new http.Agent() }
      : toRemote(new URL(address.url));
  return new Docker(settings as Docker.DockerOptions);
}

function toRemote({ protocol, hostname, port }: URL) {
  const remote = { socketPath: undefined, host: hostname, port };
  return protocol === 'https:'
    ? { ...remote, protocol: 'https', agent: new https.Agent() }
    : { ...remote, protocol: 'http', agent: new http.Agent() };
}

/** What the engine answers, or why it does not, in the two kinds of failure that cross rooms. */
export async function ask<T>(what: string, call: Promise<T>): Promise<T> {
  try {
    return await withDeadline(CALL_MS, what, call);
  } catch (error) {
    throw toEngineError(what, error);
  }
}

function toEngineError(what: string, cause: unknown): Error {
  if (cause instanceof RetryableError) return cause;
  const status = statusOf(cause);
  const words = cause instanceof Error ? cause.message.trim() : String(cause);
  if (status === undefined)
    return new RetryableError(`${what}: the container engine does not answer: ${words}`, { cause, who: WHO });
  if (status >= 500) return new RetryableError(`${what}: ${words}`, { cause, who: WHO });
  return new PermanentError(`${what}: ${words}`, { cause });
}

/** What was asked for is not there, or in another state than the call needs. */
export function isGone(error: unknown): boolean {
  const status = error instanceof Error ? statusOf(error.cause) : undefined;
  return status === 404 || status === 409;
}

function statusOf(error: unknown): number | undefined {
  const status = error instanceof Error && 'statusCode' in error ? error.statusCode : undefined;
  return typeof status === 'number' ? status : undefined;
}
