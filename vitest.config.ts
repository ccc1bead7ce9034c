import { availableParallelism } from 'node:os';
import { configDefaults, defineConfig } from 'vitest/config';

/** These need none of the shared servers and change nothing around them: they share a process and what it has loaded. */
const QUICK = [
  'agent',
  'config',
  'demo',
  'demo-story',
  'evidence',
  'gitlab',
  'http',
  'models',
  'publish',
  'redact',
]
  .concat(['sources', 'tools', 'verify', 'webhook'])
  .map((folder) => `tests/unit/${folder}/**/*.test.ts`);

export default defineConfig({
  test: {
    // Many of them wait for servers and processes: one more than there are cores, on a machine of two.
    maxWorkers: Math.max(3, availableParallelism()),
    // Real engines, servers and processes on a busy machine: what fails twice has failed.
    retry: 1,
    testTimeout: 30_000,
    hookTimeout: 60_000,
    projects: [
      { extends: true, test: { name: 'quick', include: QUICK, isolate: false } },
      {
        extends: true,
        test: {
          name: 'services',
          include: ['tests/**/*.test.ts'],
          exclude: [...configDefaults.exclude, ...QUICK],
          globalSetup: ['tests/services/global-setup.ts'],
        },
      },
    ],
  },
});
