import Fastify from 'fastify';
import { breakOnDemand, type Faults } from '../gitlab/faults.ts';
import type { KubeObject } from './objects.ts';

/** A Tekton Results that answers on 127.0.0.1. */
export type PretendResults = Faults & {
  readonly url: string;
  readonly requests: readonly string[];
  add(...runs: KubeObject[]): void;
  /** By the uids of its PipelineRun and of the TaskRun. */
  setLog(pipelineRunUid: string, taskRunUid: string, log: string): void;
  close(): Promise<void>;
};

export async function createPretendResults(options: {
  namespace: string;
  token: string;
}): Promise<PretendResults> {
  const runs: KubeObject[] = [];
  const logs = new Map<string, string>();
  const requests: string[] = [];
  const app = Fastify({ forceCloseConnections: true });
  app.addHook('onRequest', async (request, reply) => {
    requests.push(request.url);
    if (request.headers.authorization === `Bearer ${options.token}`) return undefined;
    return reply.code(401).send({ code: 16, message: 'permission denied' });
  });
  const faults = breakOnDemand(app);
  const results = `/apis/results.tekton.dev/v1alpha2/parents/${options.namespace}/results`;

  app.get<{ Querystring: Record<string, string> }>(`${results}/-/records`, async ({ query }) => {
    const size = Number(query.page_size ?? 50);
    const start = Number(query.page_token ?? 0);
    const found = runs.filter((run) => matches(run, query.filter ?? ''));
    const records = found.slice(start, start + size).map(toRecord);
    const nextPageToken = start + size < found.length ? String(start + size) : '';
    return { records, nextPageToken };
  });
  app.get<{ Params: { run: string; log: string } }>(`${results}/:run/logs/:log`, async (request, reply) => {
    const log = logs.get(`${request.params.run}/${request.params.log}`);
    if (log === undefined) return reply.code(404).send({ code: 5, message: 'record not found' });
    return reply.type('text/plain').send(log);
  });

  const url = await app.listen({ host: '127.0.0.1', port: 0 });
  return {
    ...faults,
    url,
    requests,
    add: (...more) => void runs.push(...more),
    setLog: (run, taskRun, log) => void logs.set(`${run}/${taskRun}`, log),
    close: () => app.close(),
  };
}

/** Of CEL no more than equality, and "or" between types. */
function matches({ kind, metadata }: KubeObject, filter: string): boolean {
  const types = Array.from(filter.matchAll(/data_type == "([^"]+)"/g), ([, type]) => type);
  const [, name] = /data\.metadata\.name == "([^"]+)"/.exec(filter) ?? [];
  const labels = filter.matchAll(/data\.metadata\.labels\["([^"]+)"\] == "([^"]+)"/g);
  return (
    types.includes(`tekton.dev/v1.${kind}`) &&
    (name === undefined || metadata.name === name) &&
    labels.every(([, key = '', value]) => metadata.labels?.[key] === value)
  );
}

function toRecord(run: KubeObject) {
  const value = Buffer.from(JSON.stringify(run)).toString('base64');
  const { uid } = run.metadata;
  return { uid, name: `results/${uid}/records/${uid}`, data: { type: `tekton.dev/v1.${run.kind}`, value } };
}
