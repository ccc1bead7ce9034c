import type { FastifyInstance } from 'fastify';
import type { Logger } from 'pino';
import type { Config, Secrets } from '../config/config.ts';
import { createGitlabClient, type GitlabClient } from '../gitlab/client.ts';
import type { LiveEvent } from '../jobs/run-agent.ts';
import type { HealthCheck } from '../ops/health.ts';
import type { Redactor } from '../redact/redactor.ts';
import type { BackendConnection } from './backend.ts';

export type Role = 'api' | 'worker' | 'all';

/** What the parts of the service are built from and add themselves to. */
export interface Assembly {
  config: Config;
  role: Role;
  log: Logger;
  now: () => number;
  secrets: Secrets;
  redactor: Redactor;
  backend: BackendConnection;
  app: FastifyInstance;
  checks: HealthCheck[];
  watch: (live: LiveEvent) => void;
  stopGraceMs: number;
  /** Parts are stopped in the opposite order of their start. */
  onStop(stop: () => Promise<unknown>): void;
}

export function createClient({ config, log, onStop }: Assembly, token: string): GitlabClient {
  const client = openClient(config, token, log);
  onStop(() => client.close());
  return client;
}

export function openClient({ gitlab }: Config, token: string, log: Logger): GitlabClient {
  const { url, timeoutMs, maxRequestsPerMinute, fileHosts, caFile } = gitlab;
  const options = { url, token, timeoutMs, maxRequestsPerMinute, fileHosts, log };
  return createGitlabClient(caFile === undefined ? options : { ...options, caFile });
}
