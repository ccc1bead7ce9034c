// The hidden comment by which the agent finds its own notes again. A signature binds it to one merge
// request; whoever reads one still has to know that the note is the agent's.
import { createHmac, timingSafeEqual } from 'node:crypto';
import { PermanentError } from '../errors.ts';

export type Marker =
  | { kind: 'analysis'; sessionId: string }
  /** `replyTo` is the id of the person's note that is answered. */
  | { kind: 'reply'; sessionId: string; replyTo: number };

export interface MarkerPlace {
  projectId: number;
  mrIid: number;
}

export interface Markers {
  write(marker: Marker & MarkerPlace): string;
  /** The marker that ends this text, if we have signed it for this merge request. */
  read(body: string, place: MarkerPlace): Marker | null;
}

/** The first key signs, all are believed: a new key goes in front and the old one stays for a while. */
export function createMarkers(keys: readonly Buffer[]): Markers {
  const [signingKey] = keys;
  if (!signingKey || keys.some(({ length }) => length === 0)) {
    throw new PermanentError('Markers need at least one key, and no key may be empty');
  }
  return {
    write({ projectId, mrIid, ...marker }) {
      if (!SESSION_ID.test(marker.sessionId)) {
        throw new PermanentError('A session id in a marker has 1 to 200 letters, digits, "_", "-" or "."');
      }
      const replyTo = marker.kind === 'reply' ? ` reply-to=${marker.replyTo}` : '';
      const sig = sign(signingKey, marker, { projectId, mrIid });
      return `<!-- hummingbird:1 kind=${marker.kind} session=${marker.sessionId}${replyTo} sig=${sig} -->`;
    },
    read(body, place) {
      const { marker, sig } = parse(body) ?? {};
      if (!marker || sig === undefined) return null;
      const isOurs = keys.some((key) => isSame(sig, sign(key, marker, place)));
      return isOurs ? marker : null;
    },
  };
}

/** The text that a marker ends. */
export function withoutMarker(body: string): string {
  const start = body.lastIndexOf('<!--');
  return (start === -1 ? body : body.slice(0, start)).trimEnd();
}

const SESSION_ID = /^[\w.-]{1,200}$/;
const FORM =
  /^<!-- hummingbird:1 kind=(analysis|reply) session=([\w.-]{1,200})(?: reply-to=([1-9]\d{0,14}))? sig=([\w-]{22}) -->$/;

function parse(body: string): { marker: Marker; sig: string } | null {
  const text = body.trimEnd();
  const start = text.lastIndexOf('<!--');
  const [, kind, sessionId, replyTo, sig] = (start === -1 ? null : FORM.exec(text.slice(start))) ?? [];
  if (sessionId === undefined || sig === undefined) return null;
  if (kind === 'reply' && replyTo !== undefined) {
    return { marker: { kind, sessionId, replyTo: Number(replyTo) }, sig };
  }
  return kind === 'analysis' && replyTo === undefined ? { marker: { kind, sessionId }, sig } : null;
}

function sign(key: Buffer, marker: Marker, { projectId, mrIid }: MarkerPlace): string {
  const replyTo = marker.kind === 'reply' ? marker.replyTo : null;
  // As JSON, so that no two different markers have the same text.
  const signed = JSON.stringify([1, marker.kind, marker.sessionId, replyTo, projectId, mrIid]);
  return createHmac('sha256', key).update(signed).digest('base64url').slice(0, 22);
}

function isSame(one: string, other: string): boolean {
  return one.length === other.length && timingSafeEqual(Buffer.from(one), Buffer.from(other));
}
