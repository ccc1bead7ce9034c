/** Whether a path fits a pattern: `*` is anything within one segment, `**` any number of segments. */
export function matchesGlob(pattern: string, path: string): boolean {
  const wanted = pattern.split('/');
  // What is in a group is not the group itself: a final ** needs at least one segment.
  if (wanted.at(-1) === '**') wanted.splice(-1, 0, '*');
  return fits(wanted, path.split('/'), '**', (segment, name) =>
    fits([...segment], [...name], '*', Object.is),
  );
}

/**
 * Matches item by item and, on a mismatch, lets the latest wildcard take one item more. Going back to earlier
 * wildcards can never help, so the effort is at most the product of both lengths.
 */
function fits(
  pattern: readonly string[],
  items: readonly string[],
  wildcard: string,
  same: (wanted: string, item: string) => boolean,
): boolean {
  let next = 0;
  let position = 0;
  let retry: { pattern: number; position: number } | null = null;
  while (position < items.length) {
    const wanted = pattern[next];
    const item = items[position] ?? '';
    if (wanted === wildcard) {
      next += 1;
      retry = { pattern: next, position };
    } else if (wanted !== undefined && same(wanted, item)) {
      next += 1;
      position += 1;
    } else if (retry) {
      retry.position += 1;
      next = retry.pattern;
      position = retry.position;
    } else {
      return false;
    }
  }
  return pattern.slice(next).every((rest) => rest === wildcard);
}
