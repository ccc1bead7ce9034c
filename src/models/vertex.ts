// What is the same for every model on Google's Vertex AI: where it is, and with whose token it is asked.
import { GoogleAuth, gaxios, JWT, PassThroughClient } from 'google-auth-library';
import { ModelError } from '../agent/model.ts';
import { untilAborted } from '../deadline.ts';
import type { Learn } from '../learn.ts';
import { describeError, kindOfStatus, toModelError } from './to-model-error.ts';
import { watchExchanges } from './watch-exchanges.ts';

export interface VertexOptions {
  project: string;
  /** A region, or `us`, `eu`, `global`. */
  location: string;
  /** Left out: Application Default Credentials, which google-auth-library finds by itself. */
  serviceAccount?: ServiceAccount | undefined;
  /** Hears of each token before it is used, and of all that the library has found and exchanged to get it. */
  learn: Learn;
}

export interface ServiceAccount {
  email: string;
  keyId?: string | undefined;
  /** In PEM. */
  privateKey: string;
  /** Where the key is exchanged for a token. */
  tokenUrl: string;
}

/** An API key, empty for a server without keys, or Vertex AI with credentials of Google's. */
export type Access = { apiKey: string; vertex?: undefined } | { apiKey?: undefined; vertex: VertexOptions };

/** What one request is signed with. */
export interface Pass {
  headers: Record<string, string>;
  /** Must not be part of an error. */
  secret: string;
}

export type Authorize = (signal: AbortSignal) => Promise<Pass>;

const SCOPE = 'https://www.googleapis.com/auth/cloud-platform';

/** Given to the SDKs: they would wait for a token however long it takes, and tell nobody why there is none. */
export const signedByUs = new PassThroughClient();

/** With an API key the SDK signs by itself. A token is kept as long as it is valid, and shared by all who ask so. */
export function createAuthorize({ apiKey, vertex }: Access): Authorize {
  if (!vertex) return async () => ({ headers: {}, secret: apiKey });
  const shared = authorizers.get(vertex) ?? createVertexAuthorize(vertex);
  authorizers.set(vertex, shared);
  return shared;
}

const authorizers = new WeakMap<VertexOptions, Authorize>();

function createVertexAuthorize(vertex: VertexOptions): Authorize {
  let client = openClient(vertex);
  let exchanged: string[] = [];
  const tell = (secrets: readonly string[]): void => {
    const earlier = exchanged.filter((one) => !secrets.includes(one));
    exchanged = [...earlier, ...secrets].slice(-MAX_EXCHANGED);
    vertex.learn([...toFoundSecrets(client), ...exchanged]);
  };
  const watched = new WeakSet<object>();

  async function getHeaders(): Promise<Headers> {
    const login = client instanceof GoogleAuth ? await client.getClient() : client;
    if (!watched.has(login)) watchExchanges(login, tell);
    watched.add(login);
    return client.getRequestHeaders();
  }

  return async (signal) => {
    // The library hears no signal.
    const headers = await untilAborted(getHeaders(), signal).catch((error: unknown) => {
      tell([]);
      // The same one would go on waiting for an answer that was given up.
      client = openClient(vertex);
      signal.throwIfAborted();
      throw toTokenError(error);
    });
    const secret = /^Bearer (.+)$/.exec(headers.get('authorization') ?? '')?.[1];
    if (!secret || secret === 'undefined')
      throw new ModelError('retry', 'vertex: there was no token in the answer of the token endpoint', {
        unbilled: true,
      });
    tell([secret]);
    return { headers: Object.fromEntries(headers), secret };
  };
}

/** One login takes a few of them, and only those of the last one are of use. */
const MAX_EXCHANGED = 24;

/** Of the file that the library found, and of what it was given for that. */
function toFoundSecrets(client: object): string[] {
  if (!(client instanceof GoogleAuth)) return [];
  const { jsonContent, cachedCredential } = client;
  const found = [jsonContent, cachedCredential?.credentials].map((one) => ({ ...one }));
  // An impersonated account has that of another one within.
  const all = found.flatMap((one) => [
    one,
    ...Object.values(one).filter((inner) => typeof inner === 'object'),
  ]);
  return all
    .flatMap((one) => Object.entries({ ...one }))
    .flatMap(([name, value]) => (SECRET_FIELDS.has(name) && typeof value === 'string' ? [value] : []));
}

const SECRET_FIELDS = new Set(['private_key', 'client_secret', 'refresh_token', 'access_token', 'id_token']);

/** Both SDKs know it as well, but would let the environment choose another one. */
export function vertexUrl({ location }: Pick<VertexOptions, 'location'>): string {
  if (location === 'global') return 'https://aiplatform.googleapis.com';
  if (location === 'us' || location === 'eu') return `https://aiplatform.${location}.rep.googleapis.com`;
  return `https://${location}-aiplatform.googleapis.com`;
}

function openClient({ project, serviceAccount }: VertexOptions): { getRequestHeaders(): Promise<Headers> } {
  // Without a project it would look one up, for which one needs rights.
  if (!serviceAccount) return new GoogleAuth({ scopes: SCOPE, projectId: project });
  const { email, keyId, privateKey, tokenUrl } = serviceAccount;
  return new JWT({
    email,
    ...(keyId !== undefined && { keyId }),
    key: privateKey,
    scopes: [SCOPE],
    // It would log requests if the environment says so.
    useAuthRequestParameters: false,
    transporterOptions: {
      retryConfig: { retry: 0 },
      // The library knows one token endpoint only; a private one stands in the key.
      fetchImplementation: (_url, init) => fetch(tokenUrl, init),
    },
  });
}

function toTokenError(cause: unknown): ModelError {
  const status = statusOf(cause);
  const isTransport = status === undefined && cause instanceof gaxios.GaxiosError;
  const words = status === undefined ? describeError(cause) : `(${status}) ${describeError(cause)}`;
  const failure = { cause, isUnsent: true };
  if (isTransport || (status !== undefined && kindOfStatus(status) === 'retry'))
    return toModelError(
      { ...failure, kind: 'retry', message: `vertex: no token from Google: ${words}` },
      KEYS,
    );
  const message = `vertex: Google credentials do not work: ${words}; see vertex under models in the configuration`;
  return toModelError({ ...failure, kind: 'switch', message }, KEYS);
}

/** A private key, and the assertion signed with it, which is as good as the key for an hour. */
const KEYS = /-----BEGIN [^-]+-----[^-]*-----END [^-]+-----|\beyJ[\w-]+\.[\w-]+\.[\w-]+/g;

/** Not every failed answer is thrown as an error of one class. */
function statusOf(error: unknown): number | undefined {
  const { response } = (error ?? {}) as { response?: { status?: unknown } };
  return typeof response?.status === 'number' ? response.status : undefined;
}
