// The long run: kills at random moments and every dependency taken away; `npm run test:faults`.
import { defineConfig } from 'vitest/config';
import base from './vitest.config.ts';

const { projects: _, ...settings } = base.test ?? {};

export default defineConfig({
  test: {
    ...settings,
    include: ['tests/faults/**/*.faults.ts'],
    globalSetup: ['tests/services/global-setup.ts', 'tests/faults/outcomes.ts'],
    maxWorkers: 2,
    retry: 0,
    testTimeout: 180_000,
  },
});
