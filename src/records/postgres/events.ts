import type { PostgresDatabase } from '../../database/database.ts';
import type { SeenEvents } from '../records.ts';

export function createSeenEvents(database: PostgresDatabase): SeenEvents {
  const isKnown: SeenEvents['isKnown'] = async (keys, now) => {
    const { rows } = await database.pool.query(
      'SELECT 1 FROM hummingbird.seen_event WHERE key = ANY($1::text[]) AND remembered AND expires_at > $2',
      [keys, now],
    );
    return rows.length > 0;
  };

  return {
    isKnown,

    async claim(keys, { now, holdMs }) {
      // Sorted, so that two claims of the same keys can not wait for each other.
      const sorted = [...new Set(keys)].sort();
      const taken = new Error('taken');
      try {
        await database.transaction(async (sql) => {
          for (const key of sorted) {
            const { rows } = await sql.query(
              `INSERT INTO hummingbird.seen_event AS seen (key, expires_at) VALUES ($1, $2)
               ON CONFLICT (key) DO UPDATE SET expires_at = EXCLUDED.expires_at, remembered = false
               WHERE seen.expires_at <= $3 RETURNING key`,
              [key, now + holdMs, now],
            );
            if (rows.length === 0) throw taken;
          }
        });
        return 'claimed';
      } catch (error) {
        if (error !== taken) throw error;
        return (await isKnown(sorted, now)) ? 'known' : 'held';
      }
    },

    async remember(keys, { now, holdMs }) {
      await database.pool.query(
        `INSERT INTO hummingbird.seen_event (key, expires_at, remembered)
         SELECT key, $2::bigint, true FROM unnest($1::text[]) AS t(key) ORDER BY key
         ON CONFLICT (key) DO UPDATE SET expires_at = EXCLUDED.expires_at, remembered = true`,
        [[...new Set(keys)], now + holdMs],
      );
      await database.pool.query('DELETE FROM hummingbird.seen_event WHERE expires_at <= $1', [now]);
    },

    async release(keys) {
      await database.pool.query(
        'DELETE FROM hummingbird.seen_event WHERE key = ANY($1::text[]) AND NOT remembered',
        [keys],
      );
    },
  };
}
