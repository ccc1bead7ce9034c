import type { Readable } from 'node:stream';
import Fastify, { type FastifyReply, type FastifyRequest } from 'fastify';
import { breakOnDemand, type Faults } from '../gitlab/faults.ts';
import { pageOf } from './kube-pages.ts';
import type { KubeObject } from './objects.ts';

/** A Kubernetes API, or a KubeArchive with its habits, that answers on 127.0.0.1. */
export type PretendKube = Faults & {
  readonly url: string;
  /** Paths with queries, in the order they were asked for. */
  readonly requests: readonly string[];
  add(...objects: KubeObject[]): void;
  remove(kind: string, name: string): void;
  /** Of a container; of a TaskRun's pod the archive also gives it by the TaskRun's name. */
  setLog(pod: string, container: string, log: string | (() => Readable)): void;
  close(): Promise<void>;
};

export type PretendKubeOptions = { kind: 'cluster' | 'archive'; namespace: string; token: string };

export async function createPretendKube({
  kind,
  namespace,
  token,
}: PretendKubeOptions): Promise<PretendKube> {
  const objects: KubeObject[] = [];
  const logs = new Map<string, string | (() => Readable)>();
  const requests: string[] = [];
  const app = Fastify({ forceCloseConnections: true, exposeHeadRoutes: false });
  app.addHook('onRequest', async (request) => void requests.push(request.url));
  const faults = breakOnDemand(app);

  const list = async (request: FastifyRequest<Asked>, reply: FastifyReply) => {
    const refusal = refuse(request, reply);
    if (refusal) return refusal;
    const { query, params } = request;
    const found = objects.filter((one) => toPlural(one.kind) === params.plural);
    const page = pageOf(found, query, kind);
    if (page.kind === 'refused') return reply.code(400).send(toStatus(400, page.message));
    return reply.send(page.body);
  };
  const get = async (request: FastifyRequest<Asked>, reply: FastifyReply) => {
    const refusal = refuse(request, reply);
    if (refusal) return refusal;
    const { plural, name = '' } = request.params;
    const found = objects.find((one) => toPlural(one.kind) === plural && one.metadata.name === name);
    return found ? reply.send(found) : reply.code(404).send(toStatus(404, `${plural} "${name}" not found`));
  };
  const log = async (request: FastifyRequest<Asked>, reply: FastifyReply) => {
    const refusal = refuse(request, reply);
    if (refusal) return refusal;
    const { plural, name = '' } = request.params;
    const isOwner = kind === 'archive' && plural === 'taskruns';
    const pod = isOwner ? podOf(objects, name) : name;
    const found = logs.get(`${pod}/${request.query.container}`);
    if (found === undefined) return reply.code(404).send(toStatus(404, `no log of ${plural} "${name}"`));
    return reply.type('text/plain; charset=utf-8').send(typeof found === 'string' ? found : found());
  };

  for (const root of ['/api/:version', '/apis/:group/:version']) {
    const path = `${root}/namespaces/:namespace/:plural`;
    app.get<Asked>(path, list);
    app.get<Asked>(`${path}/:name`, get);
    app.get<Asked>(`${path}/:name/log`, log);
  }
  app.setNotFoundHandler((_request, reply) => reply.code(404).send(toStatus(404, 'no such path')));

  function refuse(request: FastifyRequest<Asked>, reply: FastifyReply): FastifyReply | null {
    if (request.headers.authorization !== `Bearer ${token}`)
      return reply.code(401).send(toStatus(401, 'Unauthorized'));
    if (request.params.namespace !== namespace)
      return reply.code(403).send(toStatus(403, `forbidden in the namespace "${request.params.namespace}"`));
    return null;
  }

  const url = await app.listen({ host: '127.0.0.1', port: 0 });
  return {
    ...faults,
    url,
    requests,
    add: (...more) => void objects.push(...more.map((one) => inNamespace(one, namespace))),
    remove(removed, name) {
      const at = objects.findIndex((one) => one.kind === removed && one.metadata.name === name);
      if (at >= 0) objects.splice(at, 1);
    },
    setLog: (pod, container, text) => void logs.set(`${pod}/${container}`, text),
    close: () => app.close(),
  };
}

type Asked = {
  Params: { namespace: string; plural: string; name?: string };
  Querystring: Record<string, string>;
};

function inNamespace(one: KubeObject, namespace: string): KubeObject {
  return { ...one, metadata: { namespace, ...one.metadata } };
}

function podOf(objects: readonly KubeObject[], taskRun: string): string | undefined {
  const found = objects.find((one) => one.kind === 'TaskRun' && one.metadata.name === taskRun);
  return (found?.status as { podName?: string } | undefined)?.podName;
}

function toPlural(kind: string): string {
  return `${kind.toLowerCase()}s`;
}

function toStatus(code: number, message: string) {
  return { kind: 'Status', apiVersion: 'v1', metadata: {}, status: 'Failure', message, code };
}
