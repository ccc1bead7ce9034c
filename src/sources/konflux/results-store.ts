// Tekton Results: runs as records in base64, found with CEL, and the log of a task run as a whole.
import { Readable } from 'node:stream';
import { z } from 'zod';
import { NotFoundError } from '../../errors.ts';
import type { HttpReader } from '../../http/http-reader.ts';
import { checkWire } from '../from-wire.ts';
import { PAGE_SIZE, readPages } from './pages.ts';
import { decodeLogChunks } from './results-log.ts';
import { RESOURCES, type Resource, type Store } from './store.ts';

export function createResultsStore(reader: HttpReader, namespace: string): Store {
  const { who } = reader;
  const results = `apis/results.tekton.dev/v1alpha2/parents/${namespace}/results`;

  const listAll = (filter: string, signal: AbortSignal) =>
    readPages(async (token, pages) => {
      const query = { filter, order_by: 'create_time desc', page_size: PAGE_SIZE, page_token: token };
      const answer = await reader.getJson(`${results}/-/records`, query, signal, pages);
      const list = checkWire(wireRecords, answer, { who, what: 'the records' });
      const items = (list.records ?? []).map(fromRecord);
      // The gateway before it writes either form.
      return { items, next: list.nextPageToken || list.next_page_token || undefined };
    }, signal);

  return {
    name: who,
    kind: 'archive',
    logsAre: 'by task run',
    keeps: isKept,
    async get(resource, name, signal) {
      const filter = `${toTypeFilter(resource)} && data.metadata.name == ${quote(name)}`;
      const { items } = await listAll(filter, signal);
      if (items.length === 0) throw new NotFoundError(`${who} has no ${resource.kind} ${name}`);
      return items[0];
    },
    async list(resource, labels, signal) {
      const wanted = Object.entries(labels).map(
        ([key, value]) => `data.metadata.labels[${quote(key)}] == ${quote(value)}`,
      );
      return listAll([toTypeFilter(resource), ...wanted].join(' && '), signal);
    },
    async openLog({ taskRun, taskRunUid, pipelineRunUid }, _container, signal) {
      if (!taskRunUid) throw new NotFoundError(`${taskRun} has no uid, by which ${who} would find its log`);
      const path = `${results}/${encodeURIComponent(pipelineRunUid ?? taskRunUid)}/logs/${encodeURIComponent(taskRunUid)}`;
      const body = await reader.open(path, {}, signal);
      return Readable.from(decodeLogChunks(body), { objectMode: false });
    },
  };
}

function isKept({ kind }: Resource): boolean {
  return kind === RESOURCES.pipelineRuns.kind || kind === RESOURCES.taskRuns.kind;
}

function toTypeFilter({ kind }: Resource): string {
  return `(data_type == "tekton.dev/v1.${kind}" || data_type == "tekton.dev/v1beta1.${kind}")`;
}

/** JSON's strings are CEL's. */
function quote(text: string): string {
  return JSON.stringify(text);
}

const wireRecords = z.object({
  records: z.array(z.unknown()).nullish(),
  nextPageToken: z.string().nullish(),
  next_page_token: z.string().nullish(),
});

const wireRecord = z.object({ data: z.object({ value: z.string() }) });

/** What can not be decoded stays as it is: who asked checks item by item, so that it does not hide the others. */
function fromRecord(record: unknown): unknown {
  const read = wireRecord.safeParse(record);
  if (!read.success) return record;
  try {
    return JSON.parse(Buffer.from(read.data.data.value, 'base64').toString());
  } catch {
    return record;
  }
}
