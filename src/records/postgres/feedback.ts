import type { PostgresDatabase } from '../../database/database.ts';
import type { Feedback } from '../records.ts';

export function createFeedback(database: PostgresDatabase): Feedback {
  return {
    async save({ projectId, awardId, noteId, userId, value, given }) {
      await database.pool.query(
        `INSERT INTO hummingbird.verdict AS old (project_id, award_id, note_id, user_id, value, given)
         VALUES ($1, $2, $3, $4, $5, $6)
         ON CONFLICT (project_id, award_id) DO UPDATE SET given = old.given AND EXCLUDED.given`,
        [projectId, awardId, noteId, userId, value, given],
      );
    },

    async of(projectId, noteId) {
      const { rows } = await database.pool.query<{ value: string; count: unknown }>(
        `SELECT value, count(*) AS count FROM hummingbird.verdict
         WHERE project_id = $1 AND note_id = $2 AND given GROUP BY value`,
        [projectId, noteId],
      );
      const counts = Object.fromEntries(rows.map((row) => [row.value, Number(row.count)]));
      return { up: counts.up ?? 0, down: counts.down ?? 0 };
    },
  };
}
