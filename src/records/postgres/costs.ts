import type { PostgresDatabase, SqlQueryable } from '../../database/database.ts';
import { PermanentError } from '../../errors.ts';
import type { Costs } from '../records.ts';

export function createCosts(database: PostgresDatabase): Costs {
  return {
    reserve: ({ id, microUsd, scopes }) =>
      database.transaction(async (sql) => {
        const names = scopes.map((scope) => scope.name).sort();
        const used = await lockScopes(sql, names);
        const { rows } = await sql.query('SELECT 1 FROM hummingbird.reservation WHERE id = $1', [id]);
        if (rows.length > 0) return { granted: true };
        for (const { name, capMicroUsd } of scopes) {
          const usedMicroUsd = used.get(name) ?? 0;
          if (usedMicroUsd + microUsd > capMicroUsd)
            return { granted: false, scope: name, capMicroUsd, usedMicroUsd };
        }
        await sql.query(
          'INSERT INTO hummingbird.reservation (id, micro_usd, scopes) VALUES ($1, $2, $3::text[])',
          [id, microUsd, names],
        );
        await addToScopes(sql, names, microUsd);
        return { granted: true };
      }),

    settle: (id, microUsd) =>
      database.transaction(async (sql) => {
        const { rows } = await sql.query<{ micro_usd: unknown; scopes: string[]; settled: boolean }>(
          'SELECT micro_usd, scopes, settled FROM hummingbird.reservation WHERE id = $1 FOR UPDATE',
          [id],
        );
        const reservation = rows[0];
        if (!reservation) throw new PermanentError(`nothing was reserved as '${id}'`);
        if (reservation.settled) return;
        await sql.query('UPDATE hummingbird.reservation SET settled = true, micro_usd = $2 WHERE id = $1', [
          id,
          microUsd,
        ]);
        await addToScopes(sql, reservation.scopes, microUsd - Number(reservation.micro_usd));
      }),

    async used(scope) {
      const { rows } = await database.pool.query<{ micro_usd: unknown }>(
        'SELECT micro_usd FROM hummingbird.cost WHERE scope = $1',
        [scope],
      );
      return Number(rows[0]?.micro_usd ?? 0);
    },
  };
}

/** Locks the rows in one order for all callers, so that they queue up instead of blocking each other. */
async function lockScopes(sql: SqlQueryable, names: string[]): Promise<Map<string, number>> {
  await sql.query(
    `INSERT INTO hummingbird.cost (scope, micro_usd)
     SELECT scope, 0 FROM unnest($1::text[]) AS t(scope) ORDER BY scope
     ON CONFLICT DO NOTHING`,
    [names],
  );
  const { rows } = await sql.query<{ scope: string; micro_usd: unknown }>(
    'SELECT scope, micro_usd FROM hummingbird.cost WHERE scope = ANY($1::text[]) ORDER BY scope FOR UPDATE',
    [names],
  );
  return new Map(rows.map((row) => [row.scope, Number(row.micro_usd)]));
}

async function addToScopes(sql: SqlQueryable, names: string[], microUsd: number): Promise<void> {
  // One row at a time in name order: the lock order of lockScopes.
  for (const name of [...names].sort()) {
    await sql.query(
      'UPDATE hummingbird.cost SET micro_usd = micro_usd + $2, used_at = now() WHERE scope = $1',
      [name, microUsd],
    );
  }
}
