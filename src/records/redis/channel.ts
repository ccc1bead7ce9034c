import type { RedisDatabase } from '../../database/database.ts';
import { createDispatcher } from '../dispatcher.ts';
import type { Channel } from '../records.ts';

export async function createChannel(
  database: RedisDatabase,
  onError: (error: Error) => void,
): Promise<Channel & { close(): Promise<void> }> {
  const dispatcher = createDispatcher();
  const channel = `${database.keyPrefix}:channel`;
  // A subscribed connection takes no other commands; it resubscribes by itself when it was lost.
  const subscriber = database.connect({ maxRetriesPerRequest: null });
  subscriber.on('message', (_channel, payload) => {
    try {
      const { topic, message } = JSON.parse(payload);
      dispatcher.dispatch(topic, message);
    } catch (error) {
      onError(error as Error);
    }
  });
  await subscriber.subscribe(channel);
  return {
    publish: async (topic, message) =>
      void (await database.client.publish(channel, JSON.stringify({ topic, message }))),
    subscribe: async (topic, onMessage) => dispatcher.subscribe(topic, onMessage),
    close: async () => subscriber.disconnect(),
  };
}
