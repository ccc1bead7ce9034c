// hummingbird sessions list | show | export | delete | prune
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { PermanentError } from '../errors.ts';
import { exportSession } from '../session/export-session.ts';
import { pruneSessions, removeIfFree } from '../session/prune.ts';
import type { SessionCatalog, SessionMeta, StoredSession } from '../session/session-store.ts';
import type { SessionDesk } from './session-desk.ts';

export interface Terminal {
  print(text: string): void;
  complain(text: string): void;
}

export interface ListWishes {
  /** Path or id. */
  project?: string;
  mr?: number;
  json?: boolean;
}

interface Listed extends StoredSession {
  meta: SessionMeta | null;
  /** Why there is no meta, if it can not be read. */
  problem: string | null;
}

const READ_AT_ONCE = 16;

export async function listSessions(
  { store }: SessionDesk,
  wishes: ListWishes,
  { print }: Terminal,
): Promise<void> {
  let count = 0;
  for await (const session of withMeta(store.catalog)) {
    if (!isWanted(session, wishes)) continue;
    count += 1;
    print(wishes.json ? JSON.stringify(toJson(session)) : toLine(session));
  }
  if (!wishes.json) print(`${count} ${count === 1 ? 'session' : 'sessions'}`);
}

export async function showSession(
  desk: SessionDesk,
  given: string,
  { transcript = false }: { transcript?: boolean },
  { print }: Terminal,
): Promise<void> {
  const name = await desk.find(given);
  const { catalog } = desk.store;
  if (transcript) return printTranscript(catalog, name, print);
  const meta = await loadMeta(catalog, name);
  print(JSON.stringify({ name, ...meta.meta, ...(meta.problem && { problem: meta.problem }) }, null, 2));
  for await (const { name: object, bytes, savedAt } of catalog.objects(name))
    print(`${savedAt.toISOString()} ${`${bytes}`.padStart(12)}  ${object}`);
}

export async function exportOne(
  desk: SessionDesk,
  given: string,
  file: string,
  { print }: Terminal,
): Promise<void> {
  const name = await desk.find(given);
  const count = await exportSession(desk.store.catalog, name, file).catch((cause) => {
    if (cause.code === 'EEXIST') throw new PermanentError(`${file} is there already; name another file`);
    if (['ENOENT', 'ENOTDIR'].includes(cause.code) && cause.path === file)
      throw new PermanentError(`the folder of ${file} is not there; make it, or name another file`, {
        cause,
      });
    if (['EACCES', 'EPERM', 'EROFS'].includes(cause.code) && cause.path === file)
      throw new PermanentError(`${file} can not be written (${cause.code}); name another file`, { cause });
    throw cause;
  });
  print(`${count} objects of session ${name} are in ${file}`);
}

/** False when nothing was deleted. */
export async function deleteSession(
  desk: SessionDesk,
  given: string,
  { yes = false }: { yes?: boolean },
  { print, complain }: Terminal,
): Promise<boolean> {
  const name = await desk.find(given);
  if (!yes) {
    complain(`session ${name} would be deleted for good; --yes does it`);
    return false;
  }
  const whileFree = await desk.openWhileFree(complain);
  const isRemoved = await removeIfFree(desk.store.catalog, name, whileFree);
  if (isRemoved) print(`session ${name} is deleted`);
  else complain(`session ${name} is being worked on; try again when its run has ended`);
  return isRemoved;
}

export async function pruneOld(
  desk: SessionDesk,
  { olderThanMs, dryRun = false }: { olderThanMs: number; dryRun?: boolean },
  { print, complain }: Terminal,
): Promise<void> {
  const whileFree = dryRun ? async () => false : await desk.openWhileFree(complain);
  const before = new Date(Date.now() - olderThanMs);
  const counts = { removed: 0, 'kept-dry-run': 0, 'in-use': 0, failed: 0 };
  for await (const session of pruneSessions({ catalog: desk.store.catalog, before, whileFree, dryRun })) {
    counts[session.outcome] += 1;
    if (session.outcome === 'failed') complain(`${session.name} could not be deleted: ${session.error}`);
    else print(`${WORDS[session.outcome]}  ${session.name}  last saved ${session.savedAt.toISOString()}`);
  }
  const found = dryRun ? `${counts['kept-dry-run']} would be deleted` : `${counts.removed} deleted`;
  const inUse = counts['in-use'] > 0 ? `, ${counts['in-use']} in use` : '';
  print(`${found}${inUse}${counts.failed > 0 ? `, ${counts.failed} failed` : ''}`);
}

const WORDS = { removed: 'deleted', 'kept-dry-run': 'old', 'in-use': 'in use' };

async function printTranscript(
  catalog: SessionCatalog,
  name: string,
  print: (line: string) => void,
): Promise<void> {
  for await (const { name: object } of catalog.objects(name)) {
    if (!object.startsWith('transcript')) continue;
    const lines = createInterface({ input: await catalog.open(name, object) }).on('line', print);
    await once(lines, 'close');
  }
}

async function* withMeta(catalog: SessionCatalog): AsyncGenerator<Listed> {
  let batch: StoredSession[] = [];
  const read = (): Promise<Listed[]> =>
    Promise.all(batch.map(async (one) => ({ ...one, ...(await loadMeta(catalog, one.name)) })));
  for await (const session of catalog.list()) {
    batch.push(session);
    if (batch.length < READ_AT_ONCE) continue;
    yield* await read();
    batch = [];
  }
  yield* await read();
}

async function loadMeta(catalog: SessionCatalog, name: string): Promise<Pick<Listed, 'meta' | 'problem'>> {
  try {
    return { meta: await catalog.loadMeta(name), problem: null };
  } catch (error) {
    if (error instanceof Error && error.name === 'SessionCorruptError')
      return { meta: null, problem: error.message };
    throw error;
  }
}

function isWanted({ meta }: Listed, { project, mr }: ListWishes): boolean {
  const isProject = project === undefined || [meta?.projectPath, `${meta?.projectId}`].includes(project);
  return isProject && (mr === undefined || meta?.mrIid === mr);
}

function toLine({ name, bytes, savedAt, meta, problem }: Listed): string {
  const about = meta
    ? `${meta.projectPath}!${meta.mrIid}  ${meta.ending ?? 'under way'}  ${meta.runs} runs`
    : (problem ?? 'without meta');
  return `${name}  ${savedAt.toISOString()}  ${Math.ceil(bytes / 1024)} KB  ${about}`;
}

function toJson({ name, bytes, savedAt, meta, problem }: Listed): Record<string, unknown> {
  return { name, bytes, savedAt: savedAt.toISOString(), meta, ...(problem && { problem }) };
}
