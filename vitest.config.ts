import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    include: ['tests/**/*.test.ts'],
    globalSetup: ['tests/services/global-setup.ts'],
    // Most of them wait for servers and processes; the default leaves a core idle.
    maxWorkers: 2,
    // Real engines, servers and processes on a busy machine: what fails twice has failed.
    retry: 1,
    testTimeout: 30_000,
    hookTimeout: 60_000,
  },
});
