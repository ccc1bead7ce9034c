import type { FastifyRequest } from 'fastify';
import { ApiError, forbidden, notFound, unauthorized } from './api-error.ts';
import type { Project, Scope, Token, User } from './model.ts';
import type { World } from './state.ts';
import { findProject, userById } from './world/find.ts';

/** Who calls, if the token is good and allows the request at all. */
export function authenticate(world: World, request: FastifyRequest): User {
  const token = findToken(world, request);
  if (token === undefined) throw unauthorized();
  const wanted = scopesFor(request);
  if (!wanted.some((scope) => token.scopes.includes(scope))) throw insufficientScope(wanted);
  return userById(world, token.userId);
}

/** Whose token it is, whatever it allows; for the log. */
export function identify(world: World, request: FastifyRequest): User | undefined {
  const token = findToken(world, request);
  return token && world.users.get(token.userId);
}

/** The project, if the user may see it; 404 hides a private one from strangers, as in GitLab. */
export function openProject(world: World, user: User, idOrPath: string, least: number): Project {
  const project = findProject(world, idOrPath);
  if (project === undefined) throw notFound('Project');
  const level = project.members.get(user.id);
  if (level === undefined && project.visibility === 'private') throw notFound('Project');
  if (project.visibility === 'private' && (level ?? 0) < least) throw forbidden();
  return project;
}

function findToken(world: World, request: FastifyRequest): Token | undefined {
  const given = request.headers['private-token'] ?? bearer(request.headers.authorization);
  const token = typeof given === 'string' ? world.tokens.get(given) : undefined;
  if (token === undefined || token.revoked) return undefined;
  return token.expiresAt !== null && token.expiresAt <= world.now() ? undefined : token;
}

function bearer(header: string | undefined): string | undefined {
  return /^Bearer\s+(\S+)$/i.exec(header ?? '')?.[1];
}

function scopesFor(request: FastifyRequest): Scope[] {
  if (request.method !== 'GET' && request.method !== 'HEAD') return ['api'];
  if (/\/repository\/files\//.test(request.url)) return ['api', 'read_api', 'read_repository'];
  if (/\/users?(\/|\?|$)/.test(request.url)) return ['api', 'read_api', 'read_user'];
  return ['api', 'read_api'];
}

function insufficientScope(wanted: readonly Scope[]): ApiError {
  return new ApiError(403, {
    error: 'insufficient_scope',
    error_description: 'The request requires higher privileges than provided by the access token.',
    scope: wanted.join(' '),
  });
}
