import type { PostgresDatabase } from '../../database/database.ts';
import type { Leases } from '../records.ts';

const LIVE = 'expires_at > clock_timestamp()';
const EXPIRY = "clock_timestamp() + ($1::float8 * interval '1 millisecond')";

export function createLeases(database: PostgresDatabase): Leases {
  return {
    acquire: (name, { holder, ttlMs, limit = 1 }) =>
      database.transaction(async (sql) => {
        // The row of the name is the lock under which its places are counted.
        await sql.query(
          `INSERT INTO hummingbird.lease_name (name) VALUES ($1)
           ON CONFLICT (name) DO UPDATE SET last_token = hummingbird.lease_name.last_token`,
          [name],
        );
        await sql.query(`DELETE FROM hummingbird.lease WHERE name = $1 AND NOT (${LIVE})`, [name]);
        const { rows: others } = await sql.query(
          'SELECT 1 FROM hummingbird.lease WHERE name = $1 AND holder <> $2',
          [name, holder],
        );
        if (others.length >= limit) return null;
        const { rows } = await sql.query<{ token: unknown }>(
          `INSERT INTO hummingbird.lease (name, holder, token, expires_at)
           VALUES ($2, $3, nextval('hummingbird.lease_token'), ${EXPIRY})
           ON CONFLICT (name, holder) DO UPDATE SET token = EXCLUDED.token, expires_at = EXCLUDED.expires_at
           RETURNING token`,
          [ttlMs, name, holder],
        );
        const token = Number(rows[0]?.token);
        await sql.query(
          'UPDATE hummingbird.lease_name SET last_token = $2, used_at = now() WHERE name = $1',
          [name, token],
        );
        return { name, holder, token };
      }),

    async renew({ name, holder, token }, ttlMs) {
      const { rows } = await database.pool.query(
        `UPDATE hummingbird.lease SET expires_at = ${EXPIRY}
         WHERE name = $2 AND holder = $3 AND token = $4 AND ${LIVE} RETURNING 1`,
        [ttlMs, name, holder, token],
      );
      return rows.length > 0;
    },

    async release({ name, holder, token }) {
      await database.pool.query(
        'DELETE FROM hummingbird.lease WHERE name = $1 AND holder = $2 AND token = $3',
        [name, holder, token],
      );
    },

    async holders(name) {
      const { rows } = await database.pool.query<{ holder: string; token: unknown; ms: unknown }>(
        `SELECT holder, token, extract(epoch FROM expires_at - clock_timestamp()) * 1000 AS ms
         FROM hummingbird.lease WHERE name = $1 AND ${LIVE} ORDER BY token`,
        [name],
      );
      return rows.map(({ holder, token, ms }) => ({
        holder,
        token: Number(token),
        expiresInMs: Math.round(Number(ms)),
      }));
    },
  };
}
