import { maskArchive } from '../redact/mask-archive.ts';
import { redactMessage } from '../redact/redact-message.ts';
import type { Redactor } from '../redact/redactor.ts';
import type { SessionContext, SessionStore } from './session-store.ts';

/** The same store, which no secret gets into; and none out of what was saved before it was known as one. */
export function withRedaction<Store extends SessionStore>(store: Store, redactor: Redactor): Store {
  const redactContext = (context: SessionContext): SessionContext => ({
    ...context,
    messages: context.messages.map((message) => redactMessage(message, redactor)),
  });
  return {
    ...store,
    async load(id: string) {
      const session = await store.load(id);
      if (!session) return session;
      const { context, meta } = session;
      return { ...session, context: redactContext(context), meta: redactor.value(meta) };
    },
    saveContext: async (id, context) => store.saveContext(id, redactContext(context)),
    saveMeta: async (id, meta) => store.saveMeta(id, redactor.value(meta)),
    saveFiles: async (id, archive) => store.saveFiles(id, maskArchive(archive, redactor)),
    saveHistory: async (id, messages) =>
      store.saveHistory(
        id,
        messages.map((message) => redactMessage(message, redactor)),
      ),
    appendTranscript: async (id, event) => store.appendTranscript(id, redactor.value(event)),
  };
}
