import type { PostgresDatabase } from '../../database/database.ts';

/** Creates what is missing; safe to run by many processes at once. */
export async function migrate(database: PostgresDatabase): Promise<void> {
  await database.transaction(async (sql) => {
    await sql.query("SELECT pg_advisory_xact_lock(hashtext('hummingbird:migrate'))");
    await sql.query('CREATE SCHEMA IF NOT EXISTS hummingbird');
    await sql.query('CREATE TABLE IF NOT EXISTS hummingbird.migration (version int PRIMARY KEY)');
    const { rows } = await sql.query<{ version: number }>(
      'SELECT coalesce(max(version), 0) AS version FROM hummingbird.migration',
    );
    const current = Number(rows[0]?.version ?? 0);
    for (const [index, text] of MIGRATIONS.slice(current).entries()) {
      await sql.query(text);
      await sql.query('INSERT INTO hummingbird.migration VALUES ($1)', [current + index + 1]);
    }
  });
}

/** Only ever appended to. */
const MIGRATIONS = [
  `
  CREATE TABLE hummingbird.seen_event (
    key text PRIMARY KEY,
    expires_at bigint NOT NULL,
    remembered boolean NOT NULL DEFAULT false
  );
  CREATE INDEX ON hummingbird.seen_event (expires_at);

  CREATE TABLE hummingbird.run (
    id text PRIMARY KEY,
    project_id bigint NOT NULL,
    mr_iid bigint,
    state text NOT NULL,
    started_at bigint NOT NULL,
    body jsonb NOT NULL,
    saved_at timestamptz NOT NULL DEFAULT now()
  );
  CREATE INDEX ON hummingbird.run (started_at DESC);
  CREATE INDEX ON hummingbird.run (project_id, mr_iid, started_at DESC);

  CREATE TABLE hummingbird.cost (
    scope text PRIMARY KEY,
    micro_usd bigint NOT NULL,
    used_at timestamptz NOT NULL DEFAULT now()
  );
  CREATE TABLE hummingbird.reservation (
    id text PRIMARY KEY,
    micro_usd bigint NOT NULL,
    scopes text[] NOT NULL,
    settled boolean NOT NULL DEFAULT false,
    made_at timestamptz NOT NULL DEFAULT now()
  );

  CREATE SEQUENCE hummingbird.lease_token;
  CREATE TABLE hummingbird.lease_name (
    name text PRIMARY KEY,
    last_token bigint NOT NULL DEFAULT 0,
    used_at timestamptz NOT NULL DEFAULT now()
  );
  CREATE TABLE hummingbird.lease (
    name text NOT NULL,
    holder text NOT NULL,
    token bigint NOT NULL,
    expires_at timestamptz NOT NULL,
    PRIMARY KEY (name, holder)
  );

  CREATE TABLE hummingbird.cause_sighting (
    project_id bigint NOT NULL,
    fingerprint text NOT NULL,
    run_id text NOT NULL,
    title text NOT NULL,
    mr_iid bigint NOT NULL,
    seen_at bigint NOT NULL,
    noted_at timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (project_id, fingerprint, run_id)
  );
  CREATE INDEX ON hummingbird.cause_sighting (project_id, seen_at DESC);

  CREATE TABLE hummingbird.verdict (
    project_id bigint NOT NULL,
    award_id bigint NOT NULL,
    note_id bigint NOT NULL,
    user_id bigint NOT NULL,
    value text NOT NULL,
    given boolean NOT NULL,
    given_at timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (project_id, award_id)
  );
  CREATE INDEX ON hummingbird.verdict (project_id, note_id);

  CREATE TABLE hummingbird.long_message (
    id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    sent_at timestamptz NOT NULL DEFAULT now(),
    body text NOT NULL
  );
  `,
];
