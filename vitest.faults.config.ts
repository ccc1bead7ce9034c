// The long run: kills at random moments and every dependency taken away; `npm run test:faults`.
import { defineConfig, mergeConfig } from 'vitest/config';
import base from './vitest.config.ts';

export default mergeConfig(
  { ...base, test: { ...base.test, include: [] } },
  defineConfig({ test: { include: ['tests/faults/**/*.faults.ts'], retry: 0, testTimeout: 180_000 } }),
);
