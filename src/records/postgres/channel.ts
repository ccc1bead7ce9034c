import type { PostgresDatabase } from '../../database/database.ts';
import { createDispatcher } from '../dispatcher.ts';
import type { Channel } from '../records.ts';

const CHANNEL = 'hummingbird';
/** NOTIFY takes less than 8000 bytes; longer messages wait in a table and are announced by number. */
const MAX_NOTIFY_BYTES = 7_900;
const KEEP_LONG_MESSAGES = '10 minutes';

type Announcement = { topic: string; message: unknown } | { longMessage: number };

export async function createChannel(
  database: PostgresDatabase,
  onError: (error: Error) => void,
): Promise<Channel & { close(): Promise<void> }> {
  const dispatcher = createDispatcher();
  // A live message that can not be read is lost, like one that came while nobody listened.
  const unlisten = await database.listen(CHANNEL, (payload) => void receive(payload).catch(onError));

  const receive = async (payload: string): Promise<void> => {
    const announcement: Announcement = JSON.parse(payload);
    if ('topic' in announcement) return dispatcher.dispatch(announcement.topic, announcement.message);
    const { rows } = await database.pool.query<{ body: string }>(
      'SELECT body FROM hummingbird.long_message WHERE id = $1',
      [announcement.longMessage],
    );
    const body = rows[0] && JSON.parse(rows[0].body);
    if (body) dispatcher.dispatch(body.topic, body.message);
  };

  return {
    async publish(topic, message) {
      const payload = JSON.stringify({ topic, message });
      if (Buffer.byteLength(payload) < MAX_NOTIFY_BYTES) {
        await database.pool.query('SELECT pg_notify($1, $2)', [CHANNEL, payload]);
        return;
      }
      await database.pool.query(
        `WITH sent AS (INSERT INTO hummingbird.long_message (body) VALUES ($2) RETURNING id)
         SELECT pg_notify($1, json_build_object('longMessage', id)::text) FROM sent`,
        [CHANNEL, payload],
      );
      await database.pool.query(
        'DELETE FROM hummingbird.long_message WHERE sent_at < now() - $1::text::interval',
        [KEEP_LONG_MESSAGES],
      );
    },
    subscribe: async (topic, onMessage) => dispatcher.subscribe(topic, onMessage),
    close: unlisten,
  };
}
