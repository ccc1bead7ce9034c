// Logs that cost far more to read than they are long, if read carelessly.
import { expect, test } from 'vitest';
import { findPolicyReport } from '../../../src/sources/konflux/policy-json.ts';

test('a log of blank lines is searched for a policy report in no time', () => {
  const began = performance.now();

  expect(findPolicyReport(`a${'\n'.repeat(150_000)}"components"`)).toBeNull();

  expect(performance.now() - began).toBeLessThan(1_000);
});
