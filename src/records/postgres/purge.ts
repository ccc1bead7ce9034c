import type { PostgresDatabase } from '../../database/database.ts';
import { KEEP_MS } from '../retention.ts';

const EVERY_MS = 24 * 3_600_000;

const OLD = "now() - ($1::float8 * interval '1 millisecond')";
const STATEMENTS: [string, number][] = [
  [`DELETE FROM hummingbird.run WHERE saved_at < ${OLD}`, KEEP_MS.runs],
  [`DELETE FROM hummingbird.lease_name WHERE used_at < ${OLD}`, KEEP_MS.runs],
  [`DELETE FROM hummingbird.cost WHERE used_at < ${OLD}`, KEEP_MS.costs],
  [`DELETE FROM hummingbird.reservation WHERE made_at < ${OLD}`, KEEP_MS.costs],
  [`DELETE FROM hummingbird.cause_sighting WHERE noted_at < ${OLD}`, KEEP_MS.causes],
  [`DELETE FROM hummingbird.verdict WHERE given_at < ${OLD}`, KEEP_MS.feedback],
];

/** Deletes what is too old, now and once a day. */
export async function keepPurged(
  database: PostgresDatabase,
  onError: (error: Error) => void,
): Promise<() => void> {
  const purge = async (): Promise<void> => {
    for (const [statement, keepMs] of STATEMENTS) await database.pool.query(statement, [keepMs]);
  };
  await purge();
  // What could not be deleted today is deleted tomorrow.
  const timer = setInterval(() => void purge().catch(onError), EVERY_MS);
  timer.unref();
  return () => clearInterval(timer);
}
