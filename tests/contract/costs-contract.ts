import { describe, expect, test } from 'vitest';
import type { Costs } from '../../src/records/records.ts';

export function costsContract(open: () => Costs): void {
  describe('costs', () => {
    const scopes = (run: string) => [
      { name: `run-${run}`, capMicroUsd: 1_000 },
      { name: 'mr-1', capMicroUsd: 2_500 },
    ];

    test('fifty reservations at once never exceed the tightest cap, and all or nothing is taken', async () => {
      const costs = open();
      const outcomes = await Promise.all(
        Array.from({ length: 50 }, (_, index) =>
          costs.reserve({ id: `r-${index}`, microUsd: 300, scopes: scopes(`${index % 5}`) }),
        ),
      );
      expect(outcomes.filter((outcome) => outcome.granted)).toHaveLength(8);
      expect(await costs.used('mr-1')).toBe(2_400);
      const perRun = await Promise.all([0, 1, 2, 3, 4].map((run) => costs.used(`run-${run}`)));
      expect(perRun.reduce((sum, used) => sum + used, 0)).toBe(2_400);
    });

    test('a refusal names the scope that is full', async () => {
      expect(await open().reserve({ id: 'big', microUsd: 1_500, scopes: scopes('big') })).toEqual({
        granted: false,
        scope: 'run-big',
        capMicroUsd: 1_000,
        usedMicroUsd: 0,
      });
    });

    test('settling replaces the reserved amount once; reserving the same id again changes nothing', async () => {
      const costs = open();
      const reservation = { id: 'once', microUsd: 700, scopes: [{ name: 'day', capMicroUsd: 1_000 }] };
      await costs.reserve(reservation);
      expect(await costs.reserve(reservation)).toEqual({ granted: true });
      expect(await costs.used('day')).toBe(700);
      await costs.settle('once', 200);
      await costs.settle('once', 200);
      expect(await costs.used('day')).toBe(200);
      await expect(costs.settle('never', 1)).rejects.toThrow("nothing was reserved as 'never'");
    });
  });
}
