import { type Document, isMap, isScalar, isSeq, LineCounter, parseDocument, type YAMLError } from 'yaml';
import { findSecrets } from './find-secrets.ts';
import type { LocatedFlaw, Path, Problem } from './problem.ts';

export type YamlFile = {
  /** The content as plain values; undefined if it could not be made sense of at all. */
  value: unknown;
  syntaxProblems: Problem[];
  secrets: LocatedFlaw[];
  /** The line a path stands on. */
  lineOf(path: Path): number | undefined;
  /** Whether what stands there could be understood in spite of the syntax errors. */
  isReadable(path: Path): boolean;
};

export function readYaml(text: string): YamlFile {
  const lineCounter = new LineCounter();
  // prettyErrors would quote the file, and with it perhaps a secret.
  const options = {
    version: '1.2',
    stringKeys: true,
    prettyErrors: false,
    logLevel: 'error',
    lineCounter,
  } as const;
  const document = parseDocument(text, options);
  const errors = [...document.errors.filter(isTelling), ...document.warnings];
  const brokenFrom = Math.min(...errors.filter(({ code }) => !harmless.has(code)).map(({ pos }) => pos[0]));
  const brokenLines = new Set(errors.map(({ pos }) => lineCounter.linePos(pos[0]).line));
  const lineOf = (path: Path) => {
    const { keyOffset } = locate(document, path);
    return keyOffset === undefined ? undefined : lineCounter.linePos(keyOffset).line;
  };
  const { value, problem } = toValue(document);
  return {
    value,
    syntaxProblems: [...explainSyntax(errors, lineCounter), ...(problem ? [problem] : [])],
    secrets: [...findSecrets(document.contents)],
    lineOf,
    isReadable: (path) =>
      locate(document, path).endOffset < brokenFrom && !brokenLines.has(lineOf(path) ?? 0),
  };
}

/** Once it is off the track, the parser stumbles over every further token; only where that began is of use. */
function isTelling({ message }: YAMLError, index: number): boolean {
  return index === 0 || !message.includes('token in YAML stream');
}

/** Errors after which the rest of the file still means what it seems to mean. */
const harmless = new Set<YAMLError['code']>([
  'DUPLICATE_KEY',
  'BAD_SCALAR_START',
  'BAD_DQ_ESCAPE',
  'TAG_RESOLVE_FAILED',
  'NON_STRING_KEY',
]);

const fixes: Partial<Record<YAMLError['code'], string>> = {
  DUPLICATE_KEY: 'keep one of the two and remove the other',
  BAD_SCALAR_START: 'put the value into quotes',
  BAD_DQ_ESCAPE: 'use single quotes, in which a backslash is only a backslash',
  TAB_AS_INDENT: 'indent with spaces',
  MISSING_CHAR: 'close the quote or bracket that was opened here or above',
  MULTIPLE_DOCS: 'keep one document and remove the line ---',
  NON_STRING_KEY: 'use a plain word as key',
};

function explainSyntax(errors: readonly YAMLError[], lineCounter: LineCounter): Problem[] {
  const problems = new Map<number, Problem>();
  for (const { code, message, pos } of errors) {
    const { line, col } = lineCounter.linePos(pos[0]);
    // One slip makes the parser stumble several times on the same line; the first time is the telling one.
    if (problems.has(line)) continue;
    problems.set(line, {
      path: '',
      line,
      message: `not valid YAML at column ${col}: ${withoutQuotation(message)}`,
      fix: fixes[code] ?? 'check indentation, quotes and brackets here and on the line before',
    });
  }
  return [...problems.values()];
}

/** After a colon, or the % of a directive, the parser quotes the file, and with it perhaps a secret. */
function withoutQuotation(message: string): string {
  return message.replace(/(?:: | %).*/s, '');
}

function toValue(document: Document): { value: unknown; problem?: Problem } {
  try {
    return { value: document.toJS() };
  } catch (error) {
    // Only aliases can fail here: unknown ones, and so many that they look like a bomb.
    const reason = withoutQuotation(error instanceof Error ? error.message : String(error));
    const fix = 'write the values out instead of using aliases';
    return { value: undefined, problem: { path: '', message: `not valid YAML: ${reason}`, fix } };
  }
}

function locate(document: Document, path: Path): { keyOffset: number | undefined; endOffset: number } {
  let node: unknown = document.contents;
  let keyOffset = document.contents?.range?.[0];
  let endOffset = document.contents?.range?.[1] ?? 0;
  for (const segment of path) {
    // Of two equal keys the last one counts, as it does for the value.
    const pair = isMap(node)
      ? node.items.findLast(({ key }) => isScalar(key) && key.value === segment)
      : undefined;
    const item: unknown = pair ? pair.value : isSeq(node) ? node.items[Number(segment)] : undefined;
    const start = rangeOf(pair ? pair.key : item)?.[0];
    if (start === undefined) break;
    node = item;
    keyOffset = start;
    endOffset = rangeOf(item)?.[1] ?? start;
  }
  return { keyOffset, endOffset };
}

function rangeOf(node: unknown): readonly number[] | undefined {
  return isMap(node) || isSeq(node) || isScalar(node) ? (node.range ?? undefined) : undefined;
}
