// How long GitLab waits for its answer, beside a bare Fastify that only reads the body: `npm run bench:webhook`.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import Fastify from 'fastify';
import { pino } from 'pino';
import { loadConfig } from '../src/config/config.ts';
import { startService } from '../src/service/service.ts';
import { pipelineHook } from '../tests/fixtures/hooks.ts';

const EVENTS = 300;
const TOKEN = 'a-token-for-the-bench';
const folder = mkdtempSync(join(tmpdir(), 'hummingbird-bench-'));

const bare = Fastify();
bare.post('/webhooks/gitlab', (_request, reply) => reply.code(202).send({ status: 'queued' }));
const bareUrl = await bare.listen({ host: '127.0.0.1', port: 0 });

const { config } = loadConfig({ cwd: folder, env: {} });
config.server.port = 0;
config.webhook.spool.dir = join(folder, 'spool');
const service = await startService({
  config,
  role: 'api',
  log: pino({ level: 'silent' }),
  version: 'bench',
  env: { HUMMINGBIRD_WEBHOOK_TOKEN: TOKEN, HUMMINGBIRD_QUEUE_URL: `pglite:${join(folder, 'db')}` },
});

const rows = {
  'bare Fastify': await measure(bareUrl),
  'queued (PGlite)': await measure(service.url),
  'ignored (running)': await measure(service.url, { status: 'running' }),
};
const base = rows['bare Fastify'].median;
for (const [name, { median, p95 }] of Object.entries(rows))
  console.log(
    `${name.padEnd(20)} median ${median.toFixed(2)} ms  p95 ${p95.toFixed(2)} ms  ${(median / base).toFixed(1)}x`,
  );

await service.stop();
await bare.close();
rmSync(folder, { recursive: true, force: true });

async function measure(url: string, attributes: Record<string, unknown> = {}) {
  const times: number[] = [];
  for (let id = 1; id <= EVENTS; id += 1) {
    const body = JSON.stringify(
      pipelineHook({ id, ...attributes }, { merge_request: { iid: id, state: 'opened' } }),
    );
    const start = performance.now();
    const response = await fetch(`${url}/webhooks/gitlab`, {
      method: 'POST',
      body,
      headers: { 'content-type': 'application/json', 'x-gitlab-token': TOKEN },
    });
    await response.text();
    if (!response.ok) throw new Error(`answered ${response.status}`);
    times.push(performance.now() - start);
  }
  times.sort((a, b) => a - b);
  const at = (share: number): number => times[Math.floor(share * times.length)] ?? 0;
  return { median: at(0.5), p95: at(0.95) };
}
