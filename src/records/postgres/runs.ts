import type { PostgresDatabase } from '../../database/database.ts';
import { LeaseLostError, type Run, type Runs } from '../records.ts';

export function createRuns(database: PostgresDatabase): Runs {
  return {
    async save(run, fence) {
      const { rows } = await database.pool.query(
        `INSERT INTO hummingbird.run (id, project_id, mr_iid, state, started_at, body)
         SELECT $1::text, $2::bigint, $3::bigint, $4::text, $5::bigint, $6::jsonb
         WHERE $7::text IS NULL OR EXISTS (
           SELECT 1 FROM hummingbird.lease_name WHERE name = $7::text AND last_token = $8::bigint
         )
         ON CONFLICT (id) DO UPDATE SET state = EXCLUDED.state, started_at = EXCLUDED.started_at,
           project_id = EXCLUDED.project_id, mr_iid = EXCLUDED.mr_iid, body = EXCLUDED.body, saved_at = now()
         RETURNING id`,
        [
          run.id,
          run.projectId,
          run.mrIid,
          run.state,
          run.startedAt,
          JSON.stringify(run),
          fence?.name ?? null,
          fence?.token ?? null,
        ],
      );
      if (rows.length === 0) throw new LeaseLostError(`run ${run.id}: the lease '${fence?.name}' was lost`);
    },

    async get(id) {
      const { rows } = await database.pool.query<{ body: Run }>(
        'SELECT body FROM hummingbird.run WHERE id = $1',
        [id],
      );
      return rows[0]?.body ?? null;
    },

    async list({ mr, state, limit }) {
      const { rows } = await database.pool.query<{ body: Run }>(
        `SELECT body FROM hummingbird.run
         WHERE ($1::bigint IS NULL OR (project_id = $1 AND mr_iid = $2::bigint))
           AND ($3::text IS NULL OR state = $3)
         ORDER BY started_at DESC, id DESC LIMIT $4`,
        [mr?.projectId ?? null, mr?.iid ?? null, state ?? null, limit],
      );
      return rows.map((row) => row.body);
    },
  };
}
