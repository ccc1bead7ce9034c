// The kinds of value that several sections share.
import { z } from 'zod';
import type { Flaw } from './problem.ts';

/** A text with a rule of its own, whose violation comes with the way to mend it. */
export function checked(findFlaw: (value: string) => Flaw | null) {
  return z.string().superRefine((value, context) => {
    const flaw = findFlaw(value);
    if (flaw) context.addIssue({ code: 'custom', message: flaw.message, params: { fix: flaw.fix } });
  });
}

export function matching(pattern: RegExp, flaw: Flaw) {
  return checked((value) => (pattern.test(value) ? null : flaw)).meta({ pattern: pattern.source });
}

/** The name of an environment variable, never its value. */
export function envName() {
  return checked(findEnvNameFlaw).meta({ pattern: envNamePattern.source });
}

/** An http(s) address without credentials; a slash at its end is dropped. */
export function httpUrl() {
  return checked(findUrlFlaw)
    .overwrite((url) => url.replace(/\/+$/, ''))
    .meta({ format: 'uri' });
}

/** `host`, `host:port` or `*.domain`. */
export function hostPattern() {
  return matching(/^(?:\*\.)?[a-z0-9-]+(?:\.[a-z0-9-]+)*(?::\d{1,5})?$|^\[[0-9a-f:.]+\](?::\d{1,5})?$/i, {
    message: 'is not a host',
    fix: "write 'minio.example.com', 'minio.example.com:9000' or '*.example.com', without https://",
  });
}

export function nonEmpty() {
  return z.string().min(1);
}

export const dayMs = 86_400_000;

/** Up to a day, so that every such duration fits into a timer of Node, which fires at once beyond 24.8 days. */
export function durationMs(minMs: number, maxMs = dayMs) {
  return z.int().min(minMs).max(maxMs);
}

export function byteCount(minBytes: number) {
  return z.int().min(minBytes).max(Number.MAX_SAFE_INTEGER);
}

/** Parameters of a `refine` that compares two keys. */
export function notBelow(upper: string, lower: string) {
  return {
    path: [upper],
    message: `must not be smaller than ${lower}`,
    params: { fix: `raise it or lower ${lower}` },
    when: sound(upper, lower),
  };
}

/**
 * A check between keys runs even if other keys of the section are wrong (zod would skip it, and the second
 * problem would show only after the first is mended), but not on keys that are wrong themselves.
 */
export function sound(...keys: string[]) {
  return ({ value, issues }: z.core.ParsePayload): boolean =>
    typeof value === 'object' &&
    value !== null &&
    !issues.some(({ path }) => keys.includes(String(path?.[0])));
}

export const secretAsName: Flaw = {
  message: 'this is the value of a secret, not the name of a variable',
  fix: 'put the secret into an environment variable, write the name of that variable here, and revoke the secret',
};

const envNamePattern = /^[A-Z_][A-Z0-9_]*$/;

function findEnvNameFlaw(value: string): Flaw | null {
  if (envNamePattern.test(value)) return null;
  if (/[a-z]/.test(value)) return secretAsName;
  return {
    message: 'is not the name of an environment variable',
    fix: 'use capital letters, digits and _ only, as in GITLAB_READ_TOKEN',
  };
}

export function findUrlFlaw(value: string): Flaw | null {
  const url = URL.parse(value);
  if (!url || !/^https?:$/.test(url.protocol) || !/^https?:\/\//i.test(value)) {
    return { message: 'is not an http(s) URL', fix: 'write it in full, as in https://gitlab.example.com' };
  }
  if (url.username !== '' || url.password !== '') {
    return {
      message: 'contains credentials',
      fix: 'remove what stands before the @; secrets belong into the environment',
    };
  }
  if (url.search !== '' || url.hash !== '') {
    return { message: 'has a query or a fragment', fix: 'remove everything from the ? or # on' };
  }
  return null;
}
