import type { Clock } from '../../http/clock.ts';
import { createHttpReader, type HttpReader, type HttpReaderOptions } from '../../http/http-reader.ts';
import type { HttpLog } from '../../http/repeat.ts';
import type { Learn } from '../../learn.ts';
import { type KubeAccess, type KubeLogin, openKubeAccess } from './kube-access.ts';
import { createKubeStore } from './kube-store.ts';
import { createResultsStore } from './results-store.ts';
import type { Place } from './scope.ts';

export interface KonfluxClusterOptions {
  name: string;
  /** Without one only the archives are asked. */
  login?: KubeLogin | undefined;
  kubearchiveUrl?: string | undefined;
  tektonResultsUrl?: string | undefined;
  /** For the archives; without it they are asked with the cluster's login. */
  token?: string | undefined;
  uiUrl?: string | undefined;
  caFile?: string | undefined;
  timeoutMs?: number;
  log?: HttpLog | undefined;
  clock?: Clock | undefined;
  /** Of the login; logins are renewed. */
  learn: Learn;
}

/** One Konflux: its cluster and its archives, connected for all jobs. */
export interface KonfluxCluster {
  readonly name: string;
  openNamespace(namespace: string): Place;
  close(): Promise<void>;
}

/** Throws PermanentError when a login can not be used; whether anybody answers shows only when asked. */
export async function openKonfluxCluster(options: KonfluxClusterOptions): Promise<KonfluxCluster> {
  const { name, login, kubearchiveUrl, tektonResultsUrl, token, uiUrl } = options;
  const access = login ? await openKubeAccess(login, options.learn) : undefined;
  const authorize = toArchiveLogin(token, access);
  const open = (who: string, url: string, more: Partial<HttpReaderOptions>): HttpReader => {
    const { caFile, timeoutMs, log, clock } = options;
    return createHttpReader({
      who,
      url,
      caFile,
      log,
      clock,
      ...(timeoutMs !== undefined && { timeoutMs }),
      ...more,
    });
  };
  const cluster = access && open(`cluster ${name}`, access.url, access);
  const archive = kubearchiveUrl && open(`KubeArchive of ${name}`, kubearchiveUrl, { authorize });
  const results = tektonResultsUrl && open(`Tekton Results of ${name}`, tektonResultsUrl, { authorize });

  return {
    name,
    openNamespace(namespace) {
      const kube = cluster ? createKubeStore(cluster, namespace, 'cluster') : undefined;
      const stores = [
        ...(kube ? [kube] : []),
        ...(archive ? [createKubeStore(archive, namespace, 'archive')] : []),
        ...(results ? [createResultsStore(results, namespace)] : []),
      ];
      return { name, namespace, uiUrl, stores, cluster: kube };
    },
    async close() {
      await Promise.all([cluster, archive, results].map((reader) => (reader ? reader.close() : undefined)));
    },
  };
}

function toArchiveLogin(token: string | undefined, access: KubeAccess | undefined) {
  if (token !== undefined) return async () => ({ authorization: `Bearer ${token}` });
  return access ? () => access.authorize() : async () => ({});
}
