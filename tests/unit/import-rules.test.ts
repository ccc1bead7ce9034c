// Who may import whom. The table is the architecture; a new room is added here or it may import nothing.
import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { describe, expect, test } from 'vitest';

const SRC = join(import.meta.dirname, '../../src');

/** What every room may use: small things without a room of their own. */
const GROUND = [
  'address-logins.ts',
  'cut-words.ts',
  'errors.ts',
  'fences.ts',
  'deadline.ts',
  'learn.ts',
  'mentions.ts',
  'read-if-there.ts',
  'redis-address.ts',
  'replace-file.ts',
  'stop-request.ts',
];

const ROOMS: Record<string, { rooms: string[]; packages: string[] }> = {
  config: { rooms: [], packages: ['zod', 'yaml'] },
  database: { rooms: [], packages: ['@electric-sql/pglite', 'pg', 'ioredis'] },
  records: { rooms: ['database'], packages: [] },
  queue: { rooms: ['database', 'records'], packages: ['bullmq'] },
  webhook: { rooms: ['queue', 'records'], packages: ['fastify', 'pino', 'zod'] },
  http: { rooms: [], packages: ['undici'] },
  gitlab: { rooms: ['http'], packages: ['@gitbeaker/rest', '@gitbeaker/requester-utils'] },
  // Read and write tokens never meet: neither of these two may see the other.
  sources: {
    rooms: ['gitlab', 'http'],
    packages: [
      '@kubernetes/client-node',
      '@modelcontextprotocol/sdk',
      'fast-xml-parser',
      'undici',
      'yauzl',
      'zod',
    ],
  },
  publish: { rooms: ['gitlab', 'redact'], packages: [] },
  // The core stands alone.
  agent: { rooms: [], packages: [] },
  redact: { rooms: ['agent'], packages: ['tar-stream'] },
  models: {
    rooms: ['agent', 'redact'],
    packages: [
      '@anthropic-ai/sdk',
      '@anthropic-ai/vertex-sdk',
      '@google/genai',
      'google-auth-library',
      'openai',
      'zod',
    ],
  },
  tools: { rooms: ['agent', 'evidence', 'redact', 'sandbox', 'sources'], packages: ['zod'] },
  evidence: { rooms: [], packages: [] },
  verify: { rooms: ['agent', 'evidence'], packages: [] },
  sandbox: { rooms: [], packages: ['dockerode', 'just-bash', 'tar-stream', 'zod'] },
  session: {
    rooms: ['agent', 'redact'],
    packages: ['@aws-sdk/client-s3', '@aws-sdk/lib-storage', 'tar-stream', 'zod'],
  },
  jobs: {
    rooms: ['agent', 'publish', 'queue', 'records', 'redact', 'sandbox', 'session', 'sources', 'verify'],
    packages: ['pino'],
  },
  ops: { rooms: ['redact'], packages: ['fastify', 'pino'] },
  demo: {
    rooms: ['agent', 'config', 'service'],
    packages: ['fastify', 'marked', 'pino', 'string-width', 'wrap-ansi', 'yaml', 'zod'],
  },
  service: {
    rooms: [
      'agent',
      'config',
      'database',
      'gitlab',
      'jobs',
      'models',
      'ops',
      'publish',
      'queue',
      'records',
      'redact',
      'sandbox',
      'session',
      'sources',
      'tools',
      'webhook',
    ],
    packages: ['fastify', 'pino'],
  },
  commands: { rooms: ['config', 'demo', 'jobs', 'ops', 'queue', 'service'], packages: ['commander'] },
  'cli.ts': { rooms: ['commands', 'config', 'demo', 'evidence', 'ops', 'service'], packages: ['commander'] },
};

interface Import {
  from: string;
  to: string;
}

const imports = readdirSync(SRC, { recursive: true, encoding: 'utf8' })
  .filter((file) => file.endsWith('.ts'))
  .flatMap((file) => importsOf(file));

describe('imports', () => {
  test('are found at all', () => {
    expect(imports).toContainEqual({ from: join('webhook', 'routes.ts'), to: join('webhook', 'route.ts') });
    expect(imports).toContainEqual({ from: join('queue', 'worker.ts'), to: 'bullmq' });
  });

  test('go only where the architecture lets them', () => {
    expect(imports.filter((one) => !isAllowed(one)).map(({ from, to }) => `${from} → ${to}`)).toEqual([]);
  });
});

test('every room of the house is in the table, and every room of the table in the house', () => {
  const rooms = readdirSync(SRC).filter((name) => !GROUND.includes(name));
  expect(rooms.toSorted()).toEqual(Object.keys(ROOMS).toSorted());
});

test.each([
  ['publish', 'sources', false],
  ['webhook', 'queue', true],
  ['queue', 'webhook', false],
  ['records', 'pg', false],
])('%s importing %s is judged %s', (room, target, allowed) => {
  const to = target in ROOMS ? join(target, 'x.ts') : target;
  expect(isAllowed({ from: join(room, 'x.ts'), to })).toBe(allowed);
});

function isAllowed({ from, to }: Import): boolean {
  const room = ROOMS[roomOf(from)];
  if (to.startsWith('node:') || GROUND.includes(to)) return true;
  // The ground stands on nothing.
  if (!room) return false;
  if (/\.(?:ts|yaml)$/.test(to)) return roomOf(to) === roomOf(from) || room.rooms.includes(roomOf(to));
  return room.packages.some((one) => to === one || to.startsWith(`${one}/`));
}

function roomOf(file: string): string {
  return file.split(/[\\/]/)[0] ?? '';
}

function importsOf(file: string): Import[] {
  const text = readFileSync(join(SRC, file), 'utf8');
  const statements = text.matchAll(/^(?:import\b[^;'`]*?|export\b[^;'`]*?\bfrom )'([^']+)'/gm);
  const calls = text.matchAll(/\bimport\('([^']+)'\)/g);
  return [...statements, ...calls].map(([, specifier = '']) => ({
    from: file,
    to: specifier.startsWith('.') ? relative(SRC, join(SRC, dirname(file), specifier)) : specifier,
  }));
}
