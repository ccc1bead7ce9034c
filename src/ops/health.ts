// GET /health/live: the process runs. GET /health/ready: what it depends on, each with latency and reason.
import { performance } from 'node:perf_hooks';
import type { FastifyInstance } from 'fastify';
import { withDeadline } from '../deadline.ts';

export interface HealthCheck {
  name: string;
  /** Without it this process can do nothing useful and must get no traffic. */
  required: boolean;
  /** Throws with the reason. */
  check(): Promise<Record<string, unknown> | undefined>;
}

interface Finding {
  name: string;
  ok: boolean;
  required: boolean;
  latencyMs: number;
  reason?: string;
  details?: Record<string, unknown>;
}

const TIMEOUT_MS = 2_000;
/** Many probes must not become many requests to what is being probed. */
const CACHE_MS = 1_000;

export function healthRoutes(checks: HealthCheck[], identity: Record<string, unknown>) {
  let cached: { at: number; findings: Promise<Finding[]> } | undefined;
  return async (app: FastifyInstance): Promise<void> => {
    app.get('/health/live', { logLevel: 'warn' }, async () => ({ status: 'ok', ...identity }));

    app.get('/health/ready', { logLevel: 'warn' }, async (_request, reply) => {
      if (!cached || performance.now() - cached.at > CACHE_MS)
        cached = { at: performance.now(), findings: Promise.all(checks.map(examine)) };
      const findings = await cached.findings;
      const status = toStatus(findings);
      return reply
        .code(status === 'unavailable' ? 503 : 200)
        .send({ status, ...identity, dependencies: findings });
    });
  };
}

function toStatus(findings: Finding[]): 'ok' | 'degraded' | 'unavailable' {
  if (findings.some((finding) => finding.required && !finding.ok)) return 'unavailable';
  return findings.every((finding) => finding.ok) ? 'ok' : 'degraded';
}

async function examine({ name, required, check }: HealthCheck): Promise<Finding> {
  const start = performance.now();
  const outcome = await withDeadline(TIMEOUT_MS, name, check())
    .then((details) => ({ ok: true, ...(details && { details }) }))
    .catch((error: Error) => ({ ok: false, reason: error.message || String(error) }));
  return { name, required, latencyMs: Math.round((performance.now() - start) * 10) / 10, ...outcome };
}
