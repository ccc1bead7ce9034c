import Anthropic from '@anthropic-ai/sdk';
import { AnthropicVertex } from '@anthropic-ai/vertex-sdk';
import { type Access, signedByUs, vertexUrl } from './vertex.ts';

const PUBLIC_URL = 'https://api.anthropic.com';

export type ClientOptions = Access & {
  /** All that stands before `/v1`. */
  baseUrl?: string | undefined;
};

/** All that tells Vertex AI from Anthropic itself. The logger would print parts of a broken answer. */
export function createAnthropicClient(
  { apiKey, vertex, baseUrl }: ClientOptions,
  timeout: number,
): { messages: Pick<Anthropic['messages'], 'create'> } {
  const shared = { maxRetries: 0, timeout, logLevel: 'off', fetch: fetchWithOwnHeaders(apiKey) } as const;
  if (!vertex) return new Anthropic({ apiKey, baseURL: baseUrl ?? PUBLIC_URL, ...shared });
  return new AnthropicVertex({
    projectId: vertex.project,
    region: vertex.location,
    baseURL: `${baseUrl ?? vertexUrl(vertex)}/v1`,
    authClient: signedByUs,
    ...shared,
  });
}

/** The SDK adds what it finds in `ANTHROPIC_CUSTOM_HEADERS`, which might be meant for another program. */
function fetchWithOwnHeaders(apiKey: string | undefined): typeof fetch {
  return (url, init) => {
    const given = init?.headers instanceof Headers ? init.headers : new Headers(init?.headers);
    const headers: Record<string, string> = apiKey ? { 'x-api-key': apiKey } : {};
    for (const name of OWN_HEADERS) {
      const value = given.get(name);
      if (value !== null) headers[name] = value;
    }
    return fetch(url, { ...init, headers });
  };
}

const OWN_HEADERS = ['accept', 'anthropic-version', 'authorization', 'content-type', 'user-agent'];
