import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { ModelError } from '../../../src/agent/model.ts';
import { type Config, loadConfig } from '../../../src/config/config.ts';
import { PermanentError } from '../../../src/errors.ts';
import { createRedactor } from '../../../src/redact/redactor.ts';
import { arrangeModel } from '../../../src/service/arrange-model.ts';
import type { OpenModels } from '../../../src/service/investigator.ts';
import { newLedger } from '../../services/ledger.ts';
import { redactor } from '../../services/redactor.ts';
import { scriptedModel } from '../agent/scripted.ts';
import { requestOf, user } from '../models/requests.ts';

let folder: string;
let config: Config;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'hummingbird-arrange-'));
  const file = join(folder, 'hummingbird.yaml');
  await writeFile(file, `store: { kind: folder, dir: ${join(folder, 'sessions')}, retentionDays: 7 }\n`);
  config = loadConfig({ file }).config;
});
afterEach(() => rm(folder, { recursive: true }));

const silent = (): void => undefined;
const notOpened = (): never => {
  throw new Error('the configured models are not to be opened');
};

describe('the model of an analysis by hand', () => {
  test('is the configured chain unless told', async () => {
    const { model } = scriptedModel([]);
    const arrangement = await arrangeModel(config, {}, silent);
    expect(arrangement).toMatchObject({ config, needsKeys: true, isFresh: false });
    const models = { openModel: () => model, openSideModel: () => null };
    expect(arrangement.arrangeModels(() => models, redactor)).toBe(models);
  });

  test.each(['gemini-3.8-flash', 'gemini/gemini-3.8-flash'])('can be one of the chain: %s', async (name) => {
    const arrangement = await arrangeModel(config, { model: name }, silent);
    expect(arrangement.config.models.main).toMatchObject([{ provider: 'gemini', model: 'gemini-3.8-flash' }]);
    expect(arrangement).toMatchObject({ model: 'gemini-3.8-flash', needsKeys: true });
  });

  test('can not be one that is not there, and those that are there are named', async () => {
    const failure = arrangeModel(config, { model: 'gpt-1' }, silent);
    await expect(failure).rejects.toThrow(PermanentError);
    await expect(failure).rejects.toThrow(
      /no model 'gpt-1' under models\.main; there are claude-sonnet-5-5, gemini-3\.8-flash, and file:DIR/,
    );
  });

  test('can be a folder, without any key; a failure that may pass is asked again', async () => {
    const dir = join(folder, 'play');
    const arrangement = await arrangeModel(config, { model: `file:${dir}` }, silent);
    expect(arrangement.needsKeys).toBe(false);
    await writeFile(join(dir, '0001.response.json'), '{"error":"busy","kind":"retry"}');
    await writeFile(join(dir, '0002.response.json'), '{"text":"It was the rounding."}');
    await writeFile(join(dir, '0003.response.json'), '{"text":"It is well proven."}');
    const { openModel, openSideModel } = arrangement.arrangeModels(notOpened, redactor);
    const turn = await openModel(newLedger()).generate(requestOf([user('why?')]));
    expect(turn.message.content).toBe('It was the rounding.');
    const verdict = await openSideModel(newLedger())?.generate(requestOf([user('Is it?')]));
    expect(verdict?.message.content).toBe('It is well proven.');
  });

  test('is recorded from a fresh session on, and replayed without models, keys and the real sessions', async () => {
    const dir = join(folder, 'recording');
    const recorded = await arrangeModel(config, { record: dir }, silent);
    expect(recorded.isFresh).toBe(true);
    const main = scriptedModel([{ text: 'It was the rounding.' }]).model;
    const side = scriptedModel([{ text: 'It is well proven.' }]).model;
    const models = recorded.arrangeModels(
      () => ({ openModel: () => main, openSideModel: () => side }),
      redactor,
    );
    const said = await askBoth(models);
    expect(said).toEqual(['It was the rounding.', 'It is well proven.']);

    const replayed = await arrangeModel(config, { replay: dir }, silent);
    const { store } = replayed.config;
    expect(replayed).toMatchObject({ needsKeys: false, isFresh: true, stillAtMs: recorded.stillAtMs });
    expect(store).toMatchObject({ kind: 'folder', retentionDays: 7 });
    const sessions = store.kind === 'folder' ? store.dir : '';
    expect(sessions).not.toBe(join(folder, 'sessions'));
    expect(await readdir(sessions)).toEqual([]);
    expect(await askBoth(replayed.arrangeModels(notOpened, redactor))).toEqual(said);
    replayed.assertComplete();
    await replayed.close();
    await expect(readdir(sessions)).rejects.toMatchObject({ code: 'ENOENT' });
  });

  test('is recorded without secrets, whoever says them', async () => {
    const dir = join(folder, 'recording');
    const recorded = await arrangeModel(config, { record: dir }, silent);
    const { model } = scriptedModel([{ text: `I know ${OWN}.` }]);
    const { openModel } = recorded.arrangeModels(
      () => ({ openModel: () => model, openSideModel: () => null }),
      createRedactor({ secrets: [OWN] }),
    );
    await openModel(newLedger()).generate(requestOf([user(`Do you know ${OWN}?`)]));
    const failing = recorded.arrangeModels(
      () => ({ openModel: () => ({ name: 'm', generate: refuse }), openSideModel: () => null }),
      createRedactor({ secrets: [OWN] }),
    );
    await expect(failing.openModel(newLedger()).generate(requestOf([user('why?')]))).rejects.toThrow(
      'bad key',
    );
    await recorded.close();
    const names = (await readdir(dir, { recursive: true })).filter((name) => /\.jsonl?$/.test(name));
    const texts = await Promise.all(names.map((name) => readFile(join(dir, name), 'utf8')));
    expect(texts.join('')).toContain('I know [redacted: own-secret].');
    expect(texts.join('')).toContain('bad key [redacted: own-secret]');
    expect(texts.join('')).not.toContain(OWN);
  });
});

const OWN = 'own-token-of-the-service-1';

async function refuse(): Promise<never> {
  throw new ModelError('stop', `bad key ${OWN}`);
}

async function askBoth({ openModel, openSideModel }: OpenModels) {
  const answer = await openModel(newLedger()).generate(requestOf([user('why?')]));
  const verdict = await openSideModel(newLedger())?.generate(requestOf([user('Is it?')]));
  return [answer.message.content, verdict?.message.content];
}
