// A run's requests and what became of them, as a folder: recording.json, then 0001.json and so on, one for each call.
import { mkdir, readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { z } from 'zod';
import { PermanentError } from '../errors.ts';
import { replaceFile } from '../replace-file.ts';
import { toCallName, toReadableJson } from './asked-request.ts';
import { callSchema, type RecordedCall } from './recorded-call.ts';

export interface NewRecording {
  startedAtMs: number;
  save(call: RecordedCall): Promise<void>;
}

export interface Recording {
  dir: string;
  startedAtMs: number;
  calls: RecordedCall[];
}

/** Writes nothing before the first call, so that a run that never got there can be started again. */
export async function createRecording(dir: string): Promise<NewRecording> {
  await mkdir(dir, { recursive: true, mode: 0o700 });
  if ((await readdir(dir)).length > 0)
    throw new PermanentError(`${dir} is not empty; record into a folder that is new or empty`);
  const startedAtMs = Date.now();
  let saved = 0;
  return {
    startedAtMs,
    async save(call) {
      const header = { version: 1, startedAt: new Date(startedAtMs).toISOString() };
      if (saved === 0) await replaceFile(join(dir, HEADER), toReadableJson(header));
      saved += 1;
      await replaceFile(join(dir, `${toCallName(saved)}.json`), toReadableJson({ call: saved, ...call }));
    },
  };
}

export async function readRecording(dir: string): Promise<Recording> {
  const names = await readdir(dir).catch((cause) => {
    throw new PermanentError(`${dir} can not be read; give a folder that was recorded into`, { cause });
  });
  if (!names.includes(HEADER))
    throw new PermanentError(
      `${dir} holds no recording (there is no ${HEADER}); 'analyze --record' makes one`,
    );
  const { startedAt } = await readChecked<z.infer<typeof headerSchema>>(join(dir, HEADER), headerSchema);
  const calls: RecordedCall[] = [];
  const files = names.filter((name) => /^\d{4,}\.json$/.test(name)).sort();
  for (const [index, name] of files.entries()) {
    const expected = `${toCallName(index + 1)}.json`;
    if (name !== expected) throw new PermanentError(`${join(dir, expected)} is missing; record anew`);
    calls.push(await readChecked<RecordedCall>(join(dir, name), callSchema));
  }
  return { dir, startedAtMs: Date.parse(startedAt), calls };
}

const HEADER = 'recording.json';

const headerSchema = z.looseObject({ version: z.literal(1), startedAt: z.iso.datetime() });

/** The value as it stands in the file: a schema would put its keys into another order. */
async function readChecked<T>(path: string, schema: z.ZodType): Promise<T> {
  const text = await readFile(path, 'utf8');
  try {
    const value: unknown = JSON.parse(text);
    schema.parse(value);
    return value as T;
  } catch (cause) {
    const what = cause instanceof z.ZodError ? z.prettifyError(cause) : String(cause);
    throw new PermanentError(`${path} is not what was recorded: ${what}`, { cause });
  }
}
