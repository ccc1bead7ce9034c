// One API request as the routes see it: who asks, for what, with which parameters.
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { REPORTER } from './access.ts';
import { ApiError, missing, notFound } from './api-error.ts';
import { authenticate, openProject } from './auth.ts';
import type { MergeRequest, Project, User } from './model.ts';
import type { World } from './state.ts';
import { findMergeRequest } from './world/find.ts';

export type Call = {
  readonly world: World;
  readonly user: User;
  readonly request: FastifyRequest;
  readonly reply: FastifyReply;
  /** A part of the path. */
  param(name: string): string;
  numberParam(name: string): number;
  query(name: string): string | undefined;
  /** `name[]=a&name[]=b`, or `name=a`. */
  queryList(name: string): string[];
  /** A parameter of a write, from its body or its query. */
  field(name: string): string | undefined;
  requiredField(name: string): string;
  flag(name: string): boolean;
  /** The project of the path, if the caller has at least that level in it. */
  project(least?: number): Project;
  mergeRequest(): MergeRequest;
};

export type Router = Record<'get' | 'post' | 'put' | 'delete', (path: string, handle: Handler) => void>;

type Handler = (call: Call) => unknown;

export const API_PREFIX = '/api/v4';

export function createRouter(app: FastifyInstance, world: World): Router {
  const add = (method: 'GET' | 'POST' | 'PUT' | 'DELETE') => (path: string, handle: Handler) => {
    app.route({
      method,
      url: `${API_PREFIX}${path}`,
      handler: async (request, reply) => {
        // GitLab answers a creation with 201; a handler that means otherwise says so.
        if (method === 'POST') reply.code(201);
        return handle(toCall(world, request, reply));
      },
    });
  };
  return { get: add('GET'), post: add('POST'), put: add('PUT'), delete: add('DELETE') };
}

function toCall(world: World, request: FastifyRequest, reply: FastifyReply): Call {
  const user = authenticate(world, request);
  const params = toFields(request.params);
  const query = toFields(request.query);
  const body = toFields(request.body);
  const call: Call = {
    world,
    user,
    request,
    reply,
    param: (name) => params[name]?.[0] ?? '',
    numberParam: (name) => toId(params[name]?.[0], name),
    query: (name) => query[name]?.[0],
    queryList: (name) => [...(query[`${name}[]`] ?? []), ...(query[name] ?? [])],
    field: (name) => (body[name] ?? query[name])?.[0],
    requiredField: (name) => {
      const value = call.field(name);
      if (value === undefined) throw missing(name);
      return value;
    },
    flag: (name) => ['true', '1'].includes(call.field(name) ?? ''),
    project: (least = REPORTER) => openProject(world, user, call.param('id'), least),
    mergeRequest: () => {
      const found = findMergeRequest(world, call.project().id, call.numberParam('iid'));
      if (found === undefined) throw notFound();
      return found;
    },
  };
  return call;
}

/** GitLab takes every parameter as text, whether it came in a path, a query, a form or as JSON. */
function toFields(source: unknown): Record<string, string[]> {
  if (typeof source !== 'object' || source === null) return {};
  const entries = Object.entries(source).filter(([, value]) => value !== null && value !== undefined);
  return Object.fromEntries(entries.map(([name, value]) => [name, [value].flat().map(String)]));
}

function toId(text: string | undefined, name: string): number {
  if (text === undefined || !/^\d+$/.test(text)) throw new ApiError(400, { error: `${name} is invalid` });
  return Number(text);
}
