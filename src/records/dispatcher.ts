/** Hands each message of a shared connection to those in this process who asked for its topic. */
export function createDispatcher() {
  const handlers = new Map<string, Set<(message: unknown) => void>>();
  return {
    subscribe(topic: string, onMessage: (message: unknown) => void): () => Promise<void> {
      const ofTopic = handlers.get(topic) ?? new Set();
      handlers.set(topic, ofTopic.add(onMessage));
      return async () => {
        ofTopic.delete(onMessage);
        if (ofTopic.size === 0) handlers.delete(topic);
      };
    },
    dispatch(topic: string, message: unknown): void {
      for (const onMessage of handlers.get(topic) ?? []) onMessage(message);
    },
  };
}
