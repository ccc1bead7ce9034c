import type { KubeObject } from './objects.ts';

export type KubePage = { kind: 'page'; body: unknown } | { kind: 'refused'; message: string };

/** What a list request is answered with: chosen by labels and fields, page by page. */
export function pageOf(
  objects: readonly KubeObject[],
  query: Readonly<Record<string, string>>,
  of: 'cluster' | 'archive',
): KubePage {
  const limit = Number(query.limit ?? (of === 'archive' ? 100 : 500));
  if (of === 'archive' && limit > 1_000) return { kind: 'refused', message: 'limit exceeds 1000' };
  if (of === 'archive' && query.fieldSelector) return { kind: 'refused', message: 'no field selectors' };
  const chosen = objects.filter(
    (one) => hasLabels(one, query.labelSelector ?? '') && hasFields(one, query.fieldSelector ?? ''),
  );
  const start = Number(query.continue ?? 0);
  const items = chosen.slice(start, start + limit);
  const next = start + limit < chosen.length ? String(start + limit) : '';
  const empty = of === 'archive' ? null : [];
  const body = {
    kind: 'List',
    apiVersion: 'v1',
    items: items.length > 0 ? items : empty,
    metadata: { continue: next },
  };
  return { kind: 'page', body };
}

function hasLabels({ metadata }: KubeObject, selector: string): boolean {
  return toPairs(selector).every(([key, value]) => metadata.labels?.[key] === value);
}

/** Fields are paths: `involvedObject.name=x`. */
function hasFields(object: KubeObject, selector: string): boolean {
  return toPairs(selector).every(([path, value]) => {
    const found = path
      .split('.')
      .reduce<unknown>(
        (part, key) =>
          typeof part === 'object' && part !== null ? (part as Record<string, unknown>)[key] : undefined,
        object,
      );
    return found === value;
  });
}

function toPairs(selector: string): [string, string][] {
  if (selector === '') return [];
  return selector.split(',').map((pair) => {
    const [key = '', value = ''] = pair.split('=');
    return [key, value];
  });
}
