import { createPretendKube, type PretendKube } from './kube-server.ts';
import { createPretendResults, type PretendResults } from './results-server.ts';

/** A Konflux in memory: a cluster, and the archives that remember what it has pruned. */
export type PretendKonflux = {
  readonly token: string;
  readonly namespace: string;
  readonly cluster: PretendKube;
  readonly archive: PretendKube;
  readonly results: PretendResults;
  close(): Promise<void>;
};

export async function createPretendKonflux(
  options: { namespace?: string; token?: string } = {},
): Promise<PretendKonflux> {
  const { namespace = 'shop-tenant', token = 'sa-token-that-only-reads' } = options;
  const [cluster, archive, results] = await Promise.all([
    createPretendKube({ kind: 'cluster', namespace, token }),
    createPretendKube({ kind: 'archive', namespace, token }),
    createPretendResults({ namespace, token }),
  ]);
  const close = async () => void (await Promise.all([cluster, archive, results].map((one) => one.close())));
  return { token, namespace, cluster, archive, results, close };
}
