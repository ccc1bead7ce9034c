import type { Message } from '../agent/messages.ts';

/** A conversation in another form, message by message. */
export type Converter<Wire> = (messages: readonly Message[]) => readonly Wire[];

/**
 * Each request has all that the one before it had, unless the conversation was cut: that is converted once. `begin`
 * makes what converts the messages of one conversation, in their order.
 */
export function createConverter<Wire>(begin: () => (message: Message) => Wire): Converter<Wire> {
  let known: { message: Message; wire: Wire }[] = [];
  let convert = begin();
  return (messages) => {
    if (known.some(({ message }, index) => message !== messages[index])) {
      known = [];
      convert = begin();
    }
    for (const message of messages.slice(known.length)) known.push({ message, wire: convert(message) });
    return known.map(({ wire }) => wire);
  };
}
