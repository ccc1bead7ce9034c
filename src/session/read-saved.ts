import { z } from 'zod';
import { versioned } from './session-schema.ts';
import { SessionCorruptError } from './session-store.ts';

const KNOWN_VERSION = 1;

/** Where a text was found, for messages. */
export interface Place {
  session: string;
  name: string;
}

export function toPlace(key: string, where: (session: string) => string): Place {
  const [session = '', ...name] = key.split('/');
  return { session: where(session), name: name.join('/') };
}

/** Throws `SessionCorruptError` when the text is something else. */
export function parseSaved<T>(text: string, schema: z.ZodType<T>, place: Place): T {
  const value = parse(text, place);
  const version = versioned.safeParse(value).data?.version;
  if (version !== undefined && version > KNOWN_VERSION) {
    throw new SessionCorruptError(
      `${place.name} of ${place.session} was written by a newer Hummingbird (version ${version}, this one knows ` +
        `${KNOWN_VERSION}). Upgrade this one, or delete the session to start it anew.`,
    );
  }
  const checked = schema.safeParse(value);
  if (!checked.success) throw corrupt(place, z.prettifyError(checked.error), checked.error);
  return checked.data;
}

function parse(text: string, place: Place): unknown {
  try {
    return JSON.parse(text);
  } catch (cause) {
    // The parser's own message quotes the conversation.
    throw corrupt(place, `${text.length} characters that are not JSON`, cause);
  }
}

export function corrupt({ session, name }: Place, what: string, cause?: unknown): SessionCorruptError {
  return new SessionCorruptError(
    `${name} of the session in ${session} can not be used: ${what}. ` +
      'Mend it, put it back from a backup, or delete the session to start it anew.',
    { cause },
  );
}
