// Where a cluster is and who we are there: from a kubeconfig, from the pod we run in, or from an address and a token.
import type { RequestOptions } from 'node:https';
import type { KubeConfig } from '@kubernetes/client-node';
import type { buildConnector } from 'undici';
import { PermanentError } from '../../errors.ts';
import type { Learn } from '../../learn.ts';
import { toGivenSecrets, toObtainedSecrets } from './kube-secrets.ts';

export type KubeLogin =
  | { kind: 'token'; url: string; token: string }
  | { kind: 'kubeconfig'; file: string; context?: string | undefined }
  /** `root` is where the pod's file system begins. */
  | { kind: 'in-cluster'; root?: string };

export interface KubeAccess {
  url: string;
  /** Asked before each request: tokens of pods and of login programs change. */
  authorize(): Promise<Record<string, string>>;
  connect: buildConnector.BuildOptions;
}

/** Throws PermanentError when the login can not be used, in words for whoever configures it. */
export async function openKubeAccess(login: KubeLogin, learn: Learn): Promise<KubeAccess> {
  const config = await loadConfig(login);
  // Also when the login fails: programs tell what they were given.
  learn(config.getUsers().flatMap(toGivenSecrets));
  const cluster = config.getCurrentCluster();
  if (!cluster) throw new PermanentError(`${describeLogin(login)} names no cluster; set its current context`);
  if (cluster.proxyUrl)
    throw new PermanentError(`${describeLogin(login)} asks for a proxy, which is not supported`);
  const { ca, cert, key, passphrase, rejectUnauthorized, servername } = await applied(config, login, learn);
  const tls = { ca, cert, key, passphrase, rejectUnauthorized, servername };
  return {
    url: cluster.server,
    async authorize() {
      const { headers, auth } = await applied(config, login, learn);
      const basic = auth ? { authorization: `Basic ${Buffer.from(auth).toString('base64')}` } : {};
      return { ...basic, ...toHeaders(headers) };
    },
    connect: Object.fromEntries(Object.entries(tls).filter(([, value]) => value !== undefined)),
  };
}

async function loadConfig(login: KubeLogin): Promise<KubeConfig> {
  // Large, and only needed where Konflux is.
  const { KubeConfig } = await import('@kubernetes/client-node');
  const config = new KubeConfig();
  if (login.kind === 'token') {
    // Without TLS there is nothing to verify, and the library asks to have that said.
    const skipTLSVerify = login.url.startsWith('http:');
    config.loadFromClusterAndUser(
      { name: 'cluster', server: login.url, skipTLSVerify },
      { name: 'user', token: login.token },
    );
    return config;
  }
  try {
    if (login.kind === 'in-cluster') config.loadFromCluster(login.root);
    else config.loadFromFile(login.file);
  } catch (cause) {
    throw new PermanentError(`${describeLogin(login)} can not be read: ${wordsOf(cause)}`, { cause });
  }
  if (login.kind === 'in-cluster' && config.getCurrentCluster()?.server.includes('undefined'))
    throw new PermanentError('sources.konflux: inCluster is set, but this process does not run in a pod');
  if (login.kind === 'kubeconfig' && login.context !== undefined) {
    if (!config.getContextObject(login.context))
      throw new PermanentError(`${describeLogin(login)} has no context ${login.context}`);
    config.setCurrentContext(login.context);
  }
  return config;
}

async function applied(config: KubeConfig, login: KubeLogin, learn: Learn): Promise<RequestOptions> {
  const options: RequestOptions = {};
  try {
    await config.applyToHTTPSOptions(options);
  } catch (cause) {
    throw new PermanentError(`${describeLogin(login)} can not be used to log in: ${wordsOf(cause)}`, {
      cause,
    });
  }
  // Users as well: some logins put what they were given anew there.
  learn([...config.getUsers().flatMap(toGivenSecrets), ...toObtainedSecrets(options)]);
  return options;
}

function toHeaders(headers: RequestOptions['headers']): Record<string, string> {
  const entries = Object.entries(headers ?? {}).filter(([, value]) => value !== undefined);
  return Object.fromEntries(entries.map(([name, value]) => [name.toLowerCase(), String(value)]));
}

function describeLogin(login: KubeLogin): string {
  if (login.kind === 'kubeconfig') return `The kubeconfig ${login.file}`;
  if (login.kind === 'in-cluster') return 'The service account of this pod';
  return `The login at ${login.url}`;
}

function wordsOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
