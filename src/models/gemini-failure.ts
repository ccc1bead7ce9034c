// What went wrong, out of an error of Google's.
import type { ApiError } from '@google/genai';
import type { ModelError } from '../agent/model.ts';
import { fromJson } from './from-json.ts';
import { fromRetryInfo } from './retry-after.ts';
import { kindOfStatus } from './to-model-error.ts';

export interface ApiFailure {
  kind: ModelError['kind'];
  text: string;
  retryAfterMs: number | undefined;
}

export function fromApiError({ status, message }: ApiError): ApiFailure {
  const { text, details } = fromErrorBody(message);
  return {
    kind: status === 400 ? kindOfBadRequest(text) : kindOfStatus(status),
    text,
    retryAfterMs: fromRetryInfo(details),
  };
}

/** The SDK puts the body into the message: `{"error":{…}}`, within a list, or behind `got status: …`. */
function fromErrorBody(message: string): { text: string; details?: unknown } {
  const body = fromJson(message.slice(Math.max(0, message.search(/[[{]/))));
  const { error } = ((Array.isArray(body) ? body[0] : body) ?? {}) as {
    error?: { message?: unknown; details?: unknown };
  };
  if (typeof error?.message !== 'string') return { text: message };
  return { text: error.message, details: error.details };
}

/** Google has one status for many mistakes, and not all of them are in the request. */
function kindOfBadRequest(text: string): ModelError['kind'] {
  if (/input token count.*exceeds the maximum|payload size exceeds the limit/is.test(text)) return 'too-long';
  return /API key|location is not supported/i.test(text) ? 'switch' : 'stop';
}
