// What JUnit's reports and those of Testing Farm have in common: the XML, and how a test tells what went wrong.
import { XMLParser, XMLValidator } from 'fast-xml-parser';
import { z } from 'zod';
import { PermanentError } from '../../errors.ts';

/** The document as objects, attributes with an `@`; elements of `lists` are always lists. */
export function parseReport(xml: string, lists: ReadonlySet<string>): unknown {
  // The parser itself takes half a file without a word.
  const validity = XMLValidator.validate(xml);
  if (validity !== true) throw new PermanentError(`not whole XML: ${validity.err.msg}`);
  const parser = new XMLParser({
    ignoreAttributes: false,
    attributeNamePrefix: '@',
    parseTagValue: false,
    parseAttributeValue: false,
    // Entities that a document declares are never expanded; the usual ones are decoded below.
    processEntities: false,
    maxNestedTags: 50,
    isArray: (name) => lists.has(name),
  });
  try {
    return parser.parse(xml);
  } catch (cause) {
    const why = cause instanceof Error ? cause.message : String(cause);
    throw new PermanentError(`can not be read: ${why}`, { cause });
  }
}

export const text = z.string().transform(decodeEntities);

/** `<failure message="…">text</failure>`, `<failure>text</failure>` or `<failure/>`. */
const problem = z.union([
  text.transform((words) => ({ message: '', words })),
  z
    .object({ '@message': text.optional(), '#text': text.optional() })
    .transform((one) => ({ message: one['@message'] ?? '', words: one['#text'] ?? '' })),
]);

/** Of a test case: its `failure` or `error` elements, for which `lists` must ask. */
export const problems = z.array(problem).optional();

export function toMessage(found: readonly z.infer<typeof problem>[]): string {
  return found.map(fromProblem).join('\n\n');
}

/** Most reporters begin the text with the message. */
function fromProblem({ message, words }: z.infer<typeof problem>): string {
  return words.trim().startsWith(message.trim()) ? words : [message, words].filter(Boolean).join('\n');
}

/** Of an attribute; some write thousands with a comma. */
export function toSeconds(time: string | undefined): number | null {
  const seconds = Number(time?.replaceAll(',', '') ?? Number.NaN);
  return Number.isFinite(seconds) ? seconds : null;
}

const NAMED: Record<string, string> = { lt: '<', gt: '>', amp: '&', quot: '"', apos: "'" };

function decodeEntities(words: string): string {
  return words.replace(
    /&(?:#x([0-9a-f]{1,6})|#(\d{1,7})|(lt|gt|amp|quot|apos));/gi,
    (whole, hex, decimal, name) => {
      if (name) return NAMED[name] ?? whole;
      const code = hex ? Number.parseInt(hex, 16) : Number(decimal);
      return code <= 0x10ffff ? String.fromCodePoint(code) : whole;
    },
  );
}
