import type { PostgresDatabase } from '../../database/database.ts';
import type { Cause, Causes } from '../records.ts';

interface CauseRow {
  fingerprint: string;
  title: string;
  count: unknown;
  first_at: unknown;
  last_at: unknown;
  mr_iids: unknown[];
}

const SUMMARY = `
  SELECT fingerprint, (array_agg(title ORDER BY seen_at DESC))[1] AS title, count(*) AS count,
    min(seen_at) AS first_at, max(seen_at) AS last_at, array_agg(DISTINCT mr_iid) AS mr_iids
  FROM hummingbird.cause_sighting`;

export function createCauses(database: PostgresDatabase): Causes {
  const get: Causes['get'] = async (projectId, fingerprint) => {
    const { rows } = await database.pool.query<CauseRow>(
      `${SUMMARY} WHERE project_id = $1 AND fingerprint = $2 GROUP BY fingerprint`,
      [projectId, fingerprint],
    );
    return rows[0] ? fromRow(rows[0]) : null;
  };

  return {
    get,

    async note({ projectId, fingerprint, runId, title, mrIid, at }) {
      await database.pool.query(
        `INSERT INTO hummingbird.cause_sighting (project_id, fingerprint, run_id, title, mr_iid, seen_at)
         VALUES ($1, $2, $3, $4, $5, $6) ON CONFLICT DO NOTHING`,
        [projectId, fingerprint, runId, title, mrIid, at],
      );
      const cause = await get(projectId, fingerprint);
      if (!cause) throw new Error(`cause ${fingerprint} vanished while it was noted`);
      return cause;
    },

    async recent(projectId, limit) {
      const { rows } = await database.pool.query<CauseRow>(
        `${SUMMARY} WHERE project_id = $1 GROUP BY fingerprint ORDER BY last_at DESC, fingerprint LIMIT $2`,
        [projectId, limit],
      );
      return rows.map(fromRow);
    },
  };
}

function fromRow(row: CauseRow): Cause {
  return {
    fingerprint: row.fingerprint,
    title: row.title,
    count: Number(row.count),
    firstAt: Number(row.first_at),
    lastAt: Number(row.last_at),
    mrIids: row.mr_iids.map(Number).sort((a, b) => a - b),
  };
}
