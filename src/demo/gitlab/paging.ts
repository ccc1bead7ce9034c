import type { Call } from './call.ts';

/** The page that was asked for by number, with GitLab's headers about the others. */
export function paginate<T>(call: Call, items: readonly T[], options: { counted?: boolean } = {}): T[] {
  const perPage = perPageOf(call);
  const page = Math.max(1, Number(call.query('page') ?? 1) || 1);
  const pages = Math.max(1, Math.ceil(items.length / perPage));
  const next = page < pages ? page + 1 : undefined;
  const previous = page > 1 ? page - 1 : undefined;
  const counted = options.counted ?? items.length <= MAX_COUNTED;
  const links = [
    link(call, { page: previous }, 'prev'),
    link(call, { page: next }, 'next'),
    link(call, { page: 1 }, 'first'),
    counted ? link(call, { page: pages }, 'last') : [],
  ];
  call.reply.headers({
    'x-page': String(page),
    'x-per-page': String(perPage),
    'x-next-page': String(next ?? ''),
    'x-prev-page': String(previous ?? ''),
    link: links.flat().join(', '),
    ...(counted ? { 'x-total': String(items.length), 'x-total-pages': String(pages) } : {}),
  });
  return items.slice((page - 1) * perPage, page * perPage);
}

/** For lists that can be followed by a cursor too: `pagination=keyset`, ordered by id, without any totals. */
export function paginateByKeyset<T extends { id: number }>(
  call: Call,
  items: readonly T[],
  options: { counted: boolean },
): T[] {
  if (call.query('pagination') !== 'keyset') return paginate(call, items, options);
  const perPage = perPageOf(call);
  const ascending = call.query('sort') === 'asc';
  const ordered = items.toSorted((a, b) => (ascending ? a.id - b.id : b.id - a.id));
  const after = readCursor(call.query('cursor'));
  const rest = ordered.filter(({ id }) => after === undefined || (ascending ? id > after : id < after));
  const page = rest.slice(0, perPage);
  const last = page.at(-1);
  if (last !== undefined && rest.length > perPage) {
    call.reply.header('link', link(call, { cursor: toCursor(last.id) }, 'next').join());
  }
  return page;
}

/** For trees: no numbers, no totals, and a token that names the last entry of the page before. */
export function paginateByToken<T extends { id: string }>(call: Call, items: readonly T[]): T[] {
  if (call.query('pagination') !== 'keyset') return paginate(call, items);
  const token = call.query('page_token');
  const start = token === undefined ? 0 : items.findIndex(({ id }) => id === token) + 1;
  const page = items.slice(start, start + perPageOf(call));
  const last = page.at(-1);
  if (last !== undefined && start + page.length < items.length) {
    call.reply.header('link', link(call, { page_token: last.id }, 'next').join());
  }
  return page;
}

// Beyond this GitLab does not count, because counting would cost it more than the page.
const MAX_COUNTED = 10_000;

function perPageOf(call: Call): number {
  return Math.min(100, Math.max(1, Number(call.query('per_page') ?? 20) || 20));
}

function link(call: Call, change: Record<string, string | number | undefined>, rel: string): string[] {
  const url = new URL(call.request.url, call.world.url);
  for (const [name, value] of Object.entries(change)) {
    if (value === undefined) return [];
    url.searchParams.set(name, String(value));
  }
  url.searchParams.set('per_page', String(perPageOf(call)));
  return [`<${url.href}>; rel="${rel}"`];
}

function toCursor(id: number): string {
  return Buffer.from(JSON.stringify({ id: String(id), _kd: 'n' })).toString('base64url');
}

function readCursor(cursor: string | undefined): number | undefined {
  if (cursor === undefined) return undefined;
  const id = /"id":"(\d+)"/.exec(Buffer.from(cursor, 'base64url').toString())?.[1];
  return id === undefined ? undefined : Number(id);
}
