import { isBranch, partsOf, renderShape, type ShapeNode, show, toShapeNode } from './shape-node.ts';

/** What is shown at first of what is not the whole, so that those beside it have room too. */
const MAX_KEYS = 50;
/** Of an object whose values all have keys or items of their own: most often one looks like the other. */
const MAX_ENTRIES = 3;
const MAX_LEAVES = 3;
const MAX_CHARS = 80;

interface Room {
  maxBytes: number;
  /** Whether the whole, as it is shown now, has room. */
  fits(): boolean;
}

/**
 * What a JSON value looks like, for somebody who will ask for parts of it: never more than `maxBytes` of UTF-8, which
 * are at least 64. What lies higher has room first; where that ends, it says how much is left out.
 */
export function toJsonShape(value: unknown, maxBytes: number): string {
  const root = toShapeNode(value);
  const room = { maxBytes, fits: () => Buffer.byteLength(renderShape(root)) <= maxBytes };
  if (root.kind === 'object') showMore(root, root.size, room);
  const met = openBelow([root], room);
  for (const node of met.filter(({ kind }) => kind === 'array')) addItem(node, room);
  for (const node of met.filter(({ kind }) => kind === 'object')) addKeys(node, room);
  return renderShape(root);
}

/** Level by level, long strings last in each. Answers all but those. */
function openBelow(nodes: readonly ShapeNode[], room: Room): ShapeNode[] {
  const met: ShapeNode[] = [];
  for (let level = [...nodes]; level.length > 0; ) {
    const strings: ShapeNode[] = [];
    const next: ShapeNode[] = [];
    for (const node of level) {
      if (node.kind === 'string') {
        strings.push(node);
        continue;
      }
      met.push(node);
      open(node, room);
      // An array tells nothing without its items: they are of its own level, which grows while it is walked.
      const below = node.kind === 'array' ? level : next;
      below.push(...partsOf(node));
    }
    for (const node of strings) open(node, room);
    level = next;
  }
  return met;
}

function open(node: ShapeNode, room: Room): void {
  showMore(node, mostOf(node), room);
}

function mostOf({ kind, values }: ShapeNode): number {
  if (kind === 'string') return MAX_CHARS;
  if (kind === 'object') return values.every(isBranch) ? MAX_ENTRIES : MAX_KEYS;
  return isBranch(values[0]) ? 1 : MAX_LEAVES;
}

/** A second one, to compare the first with. One that can not be opened is no sample. */
function addItem(node: ShapeNode, room: Room): void {
  if (node.shown !== 1) return;
  showMore(node, 2, room);
  const [, second] = partsOf(node);
  if (!second) return;
  openBelow([second], room);
  if (second.shown === 0 && second.size > 0) show(node, 1);
}

function addKeys(node: ShapeNode, room: Room): void {
  const { shown } = node;
  if (shown === 0) return;
  showMore(node, node.size, room);
  openBelow(partsOf(node).slice(shown), room);
}

/** As many of its parts as have room, at most so many. */
function showMore(node: ShapeNode, most: number, room: Room): void {
  // Each takes at least a byte.
  let [low, high] = [node.shown, Math.min(most, node.size, room.maxBytes)];
  // All of them may need less than some and the words for the rest, so they are tried first.
  for (let count = high; low < high; count = Math.ceil((low + high) / 2)) {
    show(node, count);
    if (room.fits()) low = count;
    else high = count - 1;
  }
  show(node, low);
}
