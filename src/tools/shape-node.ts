// The shape of a JSON value as text, of which more or less can be shown: keys in their order, types, lengths, samples.

export interface ShapeNode {
  readonly kind: 'object' | 'array' | 'string' | 'scalar';
  /** How many keys, items or characters there are; none of what is short and shown as it is. */
  readonly size: number;
  /** How many of them are shown, the first ones. Change it with `show`. */
  shown: number;
  /** Of an object or array, those that were ever shown. */
  readonly parts: ShapeNode[];
  readonly keys: readonly string[];
  readonly values: readonly unknown[];
  /** The whole of a scalar or string; of an array what is to be said of all its items. */
  readonly text: string;
}

/** Longer ones are told by their length first, so that what stands beside them has room. */
const MAX_SHORT_BYTES = 24;
const MAX_KEY_CHARS = 80;
const MAX_LINE_CHARS = 100;

/** Nothing is shown yet; what it says then has at most 40 bytes. */
export function toShapeNode(value: unknown): ShapeNode {
  const nothing = { shown: 0, parts: [], keys: [], values: [] };
  if (Array.isArray(value))
    return { ...nothing, kind: 'array', size: value.length, values: value, text: describeItems(value) };
  if (isBranch(value)) {
    const keys = toKeys(value);
    return {
      ...nothing,
      kind: 'object',
      size: keys.length,
      keys,
      values: keys.map((key) => value[key]),
      text: '',
    };
  }
  const text = JSON.stringify(value) ?? 'null';
  if (typeof value !== 'string' || Buffer.byteLength(text) <= MAX_SHORT_BYTES)
    return { ...nothing, kind: 'scalar', size: 0, text };
  return { ...nothing, kind: 'string', size: value.length, text: value };
}

export function show(node: ShapeNode, count: number): void {
  node.shown = count;
  if (node.kind === 'string') return;
  for (const value of node.values.slice(node.parts.length, count)) node.parts.push(toShapeNode(value));
}

export function partsOf({ parts, shown }: ShapeNode): ShapeNode[] {
  return parts.slice(0, shown);
}

/** On one line if it has room there. */
export function renderShape(node: ShapeNode, indent = ''): string {
  const { kind, size, shown, text } = node;
  if (kind === 'scalar') return text;
  if (kind === 'string') return shown === 0 ? `string(${size})` : cutText(text, shown);
  const [open, close, noun] = kind === 'object' ? ['{', '}', 'key'] : ['[', ']', 'item'];
  if (shown === 0) return `${open}${size === 0 ? '' : toCount(size, noun)}${close}`;

  const deeper = `${indent} `;
  const left = size - shown;
  const about = kind === 'array' && left > 0 ? `${size} items${text}:` : '';
  const lines = partsOf(node).map((part, index) => toLabel(node, index) + renderShape(part, deeper));
  if (left > 0) lines.push(`… ${toCount(left, `more ${noun}`)}`);
  const inline = `${open}${about}${about && ' '}${lines.join(', ')}${close}`;
  if (indent.length + inline.length <= MAX_LINE_CHARS && !inline.includes('\n')) return inline;
  return `${open}${about}\n${deeper}${lines.join(`,\n${deeper}`)}\n${indent}${close}`;
}

/** It has keys or items of its own. */
export function isBranch(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null;
}

function toCount(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? '' : 's'}`;
}

/** Without quotes where jq needs none. */
function toLabel({ kind, keys }: ShapeNode, index: number): string {
  return kind === 'object' ? `${toKey(keys[index] ?? '')}: ` : '';
}

function toKey(key: string): string {
  return /^[A-Za-z_]\w{0,79}$/.test(key) ? key : cutText(key, MAX_KEY_CHARS);
}

function cutText(text: string, maxChars: number): string {
  if (text.length <= maxChars) return JSON.stringify(text);
  // An emoji is two UTF-16 units; half of one is no text.
  const kept = text.slice(0, maxChars).replace(/[\uD800-\uDBFF]$/, '');
  return `${JSON.stringify(`${kept}…`)} (${text.length} characters)`;
}

const MAX_NAMES = 5;

/** What the first item does not tell of the others. */
function describeItems(items: readonly unknown[]): string {
  const [kind = '', ...kinds] = new Set(items.map(toKind));
  if (kinds.length > 0) return ` of ${[kind, ...kinds].join(', ')}`;
  if (kind !== 'object') return '';
  const objects = items.filter(isBranch).map(toKeys);
  const known = new Set(objects[0]);
  const others = new Set(objects.flatMap((keys) => keys.filter((key) => !known.has(key))));
  if (others.size > 0) return `, some also with ${toNames([...others])}`;
  const hasAll = objects.every((keys) => keys.length === known.size);
  return hasAll ? ' with the same keys' : ', some with fewer keys';
}

function toKind(value: unknown): string {
  if (Array.isArray(value)) return 'array';
  return value === null ? 'null' : typeof value;
}

/** As in the file: a key without a value is not in there. */
function toKeys(value: Record<string, unknown>): string[] {
  return Object.keys(value).filter((key) => value[key] !== undefined);
}

function toNames(keys: readonly string[]): string {
  const rest = keys.length > MAX_NAMES ? `, … ${toCount(keys.length - MAX_NAMES, 'more key')}` : '';
  return `${keys.slice(0, MAX_NAMES).map(toKey).join(', ')}${rest}`;
}
