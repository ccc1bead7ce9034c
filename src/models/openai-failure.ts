// What went wrong, out of an error of one of the many servers that speak OpenAI's format.
import type { APIError } from 'openai';
import type { ModelError } from '../agent/model.ts';
import { describeError, kindOfStatus } from './to-model-error.ts';

export interface ApiFailure {
  kind: ModelError['kind'];
  status: number | undefined;
  text: string;
}

export function fromApiError(error: APIError): ApiFailure {
  const status = error.status ?? statusOfCode(error.code);
  const text = describe(error);
  return { kind: kindOfWords(error, text) ?? kindOfStatus(status), status, text };
}

/** An error inside a stream has no status, but mostly a code that is one. */
function statusOfCode(code: unknown): number | undefined {
  const status = Number(code);
  return status >= 400 && status < 600 ? status : undefined;
}

function describe(error: APIError): string {
  const text = describeError(error).replace(`${error.status} `, '');
  // OpenRouter says only that its provider failed, and keeps the provider's own words aside.
  const { metadata } = (error.error ?? {}) as { metadata?: { raw?: unknown } };
  return typeof metadata?.raw === 'string' ? `${text}: ${metadata.raw}` : text;
}

/** What the status does not tell. */
function kindOfWords({ code, param }: APIError, text: string): ModelError['kind'] | undefined {
  if (code === 'context_length_exceeded' || TOO_LONG.test(text)) return 'too-long';
  // The money is spent; or this model takes tools only if it does not think.
  if (code === 'insufficient_quota' || param === 'reasoning_effort') return 'switch';
  return undefined;
}

/** In the words of vLLM, llama.cpp, Ollama and OpenRouter, under whatever status. */
const TOO_LONG = /context (?:length|window|size)|maximum model length|prompt (?:is )?too long/i;
