// The report of Enterprise Contract (Conforma), found among the lines of a log.
import { z } from 'zod';

/** Null when the log holds none. */
export function findPolicyReport(log: string): PolicyReport | null {
  for (const start of startsOf(log)) {
    const text = objectAt(log, start);
    const read = text === null ? null : wireReport.safeParse(parse(text));
    if (read?.success) return read.data;
  }
  return null;
}

const wireRule = z.object({
  msg: z.string().nullish(),
  metadata: z
    .object({
      code: z.string().nullish(),
      title: z.string().nullish(),
      description: z.string().nullish(),
      solution: z.string().nullish(),
      term: z.unknown().optional(),
      effective_on: z.string().nullish(),
    })
    .nullish(),
});

export type PolicyRule = z.infer<typeof wireRule>;

const wireReport = z.object({
  success: z.boolean(),
  components: z.array(
    z.object({
      name: z.string().nullish(),
      containerImage: z.string().nullish(),
      success: z.boolean().nullish(),
      violations: z.array(wireRule).nullish(),
      warnings: z.array(wireRule).nullish(),
      // How many there are, or all of them.
      successes: z.unknown().optional(),
    }),
  ),
});

export type PolicyReport = z.infer<typeof wireReport>;

const MAX_STARTS = 20;

/** Where an object may begin: a brace that opens a line, perhaps behind the name of the step. */
function startsOf(log: string): number[] {
  // Bounded, and within a line: a log of blank lines must not be searched over and over.
  const found = log.matchAll(/^(?:\[?[\w-]{1,80}\]?[ \t]{0,8}:?-?[ \t]{0,8})?\{/gm);
  const starts = found.map((match) => match.index + match[0].length - 1);
  const last = log.lastIndexOf('"components"');
  return starts
    .filter((start) => start < last)
    .take(MAX_STARTS)
    .toArray();
}

/** The text up to the brace that closes the one at `start`. */
function objectAt(log: string, start: number): string | null {
  let depth = 0;
  let isText = false;
  for (let at = start; at < log.length; at += 1) {
    const char = log[at];
    if (isText) {
      if (char === '\\') at += 1;
      else if (char === '"') isText = false;
    } else if (char === '"') isText = true;
    else if (char === '{') depth += 1;
    else if (char === '}') {
      depth -= 1;
      if (depth === 0) return log.slice(start, at + 1);
    }
  }
  return null;
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}
