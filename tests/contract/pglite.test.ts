import { expect, test } from 'vitest';
import { pglite } from '../services/backends.ts';
import { openAll } from '../services/open-backend.ts';
import { queueContract } from './queue-contract.ts';
import { recordsContract } from './records-contract.ts';

recordsContract(pglite);
queueContract(pglite);

test('records that are too old are gone after a restart, the others are not', async () => {
  const address = await pglite.create();
  const before = await openAll(address);
  const scopes = [{ name: 'day', capMicroUsd: 1_000 }];
  await before.records.costs.reserve({ id: 'old', microUsd: 100, scopes });
  if (before.database.kind !== 'postgres') throw new Error('not PostgreSQL');
  await before.database.pool.query("UPDATE hummingbird.cost SET used_at = now() - interval '401 days'");
  await before.records.costs.reserve({
    id: 'new',
    microUsd: 1,
    scopes: [{ name: 'today', capMicroUsd: 1_000 }],
  });
  await before.close();
  const after = await openAll(address);
  expect(await after.records.costs.used('day')).toBe(0);
  expect(await after.records.costs.used('today')).toBe(1);
  await after.close();
});
