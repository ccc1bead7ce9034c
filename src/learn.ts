/**
 * Tells the redactor of all secrets that one login consists of now, before they are used. They stay known until the same
 * holder tells others, and most of them for a while after that.
 */
export type Learn = (secrets: readonly string[]) => void;
