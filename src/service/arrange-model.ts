// Which model one analysis by hand asks, and whether the run is recorded or replayed.
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Config } from '../config/config.ts';
import { PermanentError } from '../errors.ts';
import { openFileModel } from '../models/file-model.ts';
import { createRecording, type NewRecording, readRecording } from '../models/recording.ts';
import { redactCall } from '../models/redact-call.ts';
import { createReplay } from '../models/replay.ts';
import { withRecording } from '../models/with-recording.ts';
import { withRetry } from '../models/with-retry.ts';
import type { Redactor } from '../redact/redactor.ts';
import { type OpenModels, redacted } from './investigator.ts';

export interface ModelWishes {
  /** One of models.main, or `file:DIR`: whoever answers the requests in that folder. */
  model?: string | undefined;
  /** A new folder for the requests and their answers. */
  record?: string | undefined;
  /** Such a folder, instead of any model. */
  replay?: string | undefined;
}

export interface ModelArrangement {
  /** As this run has to see it. */
  config: Config;
  /** Whether any vendor is asked. */
  needsKeys: boolean;
  /** The one of models.main that is asked whatever the workflow says. */
  model?: string;
  /** Whether the session must not be one that was begun before. */
  isFresh: boolean;
  /** What time it always is in the sandbox, so that a replay sees what was recorded. */
  stillAtMs?: number;
  arrangeModels(openConfigured: () => OpenModels, redactor: Redactor): OpenModels;
  /** Throws when the run was not what it should have been. */
  assertComplete(): void;
  close(): Promise<void>;
}

export async function arrangeModel(
  config: Config,
  { model, record, replay }: ModelWishes,
  tell: (words: string) => void,
): Promise<ModelArrangement> {
  if (replay !== undefined) return arrangeReplay(config, replay);
  const chosen = await chooseModel(config, model, tell);
  if (record === undefined) return chosen;
  const recording = await createRecording(record);
  return {
    ...chosen,
    isFresh: true,
    stillAtMs: recording.startedAtMs,
    // What is written down must have no secrets, either.
    arrangeModels: (openConfigured, redactor) =>
      recorded(redacted(chosen.arrangeModels(openConfigured, redactor), redactor), {
        ...recording,
        save: async (call) => recording.save(redactCall(call, redactor)),
      }),
  };
}

function recorded({ openModel, openSideModel }: OpenModels, recording: NewRecording): OpenModels {
  return {
    openModel: (ledger) => withRecording(openModel(ledger), { ...recording, role: 'main', ledger }),
    openSideModel(ledger) {
      const side = openSideModel(ledger);
      return side && withRecording(side, { ...recording, role: 'side', ledger });
    },
  };
}

async function arrangeReplay(config: Config, dir: string): Promise<ModelArrangement> {
  const recording = await readRecording(dir);
  const { open, assertComplete } = createReplay(recording);
  // The session begins as the recorded one did, and the real one is left alone.
  const sessions = await mkdtemp(join(tmpdir(), 'hummingbird-replay-'));
  const { retentionDays } = config.store;
  return {
    config: { ...config, store: { kind: 'folder', dir: sessions, retentionDays } },
    needsKeys: false,
    isFresh: true,
    stillAtMs: recording.startedAtMs,
    arrangeModels: () => ({
      openModel: (ledger) => open('main', ledger),
      openSideModel: (ledger) => open('side', ledger),
    }),
    assertComplete,
    close: () => rm(sessions, { recursive: true }),
  };
}

async function chooseModel(
  config: Config,
  name: string | undefined,
  tell: (words: string) => void,
): Promise<ModelArrangement> {
  const configured: ModelArrangement = {
    config,
    needsKeys: true,
    isFresh: false,
    arrangeModels: (openConfigured) => openConfigured(),
    assertComplete: () => undefined,
    close: async () => undefined,
  };
  if (name === undefined) return configured;
  if (name.startsWith(FILE)) {
    const model = withRetry(await openFileModel({ dir: name.slice(FILE.length), tell }));
    const models = { openModel: () => model, openSideModel: () => model };
    return { ...configured, needsKeys: false, arrangeModels: () => models };
  }
  const main = config.models.main.filter((one) => [one.model, `${one.provider}/${one.model}`].includes(name));
  const [first] = main;
  if (!first) throw new PermanentError(describeChoice(config, name));
  return { ...configured, config: { ...config, models: { ...config.models, main } }, model: first.model };
}

const FILE = 'file:';

function describeChoice({ models }: Config, name: string): string {
  const names = [...new Set(models.main.map(({ model }) => model))].join(', ');
  return `there is no model '${name}' under models.main; there are ${names}, and file:DIR to play it yourself`;
}
