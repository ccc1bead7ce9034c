import { once } from 'node:events';
import { watch } from 'node:fs';
import { mkdtemp, readdir, readFile, rename, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { type Delta, type Model, ModelError, type ModelTurn } from '../../../src/agent/model.ts';
import { openFileModel } from '../../../src/models/file-model.ts';
import { assistant, requestOf, result, user } from './requests.ts';

let dir: string;
let told: string[];
let model: Model;
let heardSoFar: number;

beforeEach(async () => {
  dir = join(await mkdtemp(join(tmpdir(), 'hummingbird-file-model-')), 'play');
  told = [];
  heardSoFar = 0;
  model = await open();
});
afterEach(() => rm(join(dir, '..'), { recursive: true }));

describe('a model that is played through files', () => {
  test('asks in a file and takes the answer from another, one pair for each call', async () => {
    const player = play([
      {
        text: 'Let me look.',
        calls: [{ name: 'sandbox_exec', arguments: { command: 'ls' } }, { name: 'look' }],
      },
      { text: 'It was the rounding.' },
    ]);
    const deltas: Delta[] = [];
    const first = await model.generate(
      requestOf([user('why?')], { onDelta: (delta) => deltas.push(delta), transient: 'Hurry.' }),
    );
    const history = [user('why?'), first.message, ...first.message.toolCalls.map(({ id }) => result(id))];
    const second = await model.generate(requestOf(history));
    const seen = await player;

    expect(first).toMatchObject({
      stop: 'tool-calls',
      message: {
        role: 'assistant',
        content: 'Let me look.',
        toolCalls: [
          { id: 'call_1_0', name: 'sandbox_exec', arguments: { command: 'ls' } },
          { id: 'call_1_1', name: 'look', arguments: {} },
        ],
      },
    } satisfies Partial<ModelTurn>);
    expect(deltas).toEqual([{ kind: 'text', text: 'Let me look.' }]);
    expect(second).toMatchObject({ stop: 'end', message: { ...assistant('It was the rounding.') } });

    const { signal: _, onDelta: __, ...asked } = requestOf([user('why?')], { transient: 'Hurry.' });
    expect(seen).toEqual([asked, { ...asked, messages: history, transient: undefined }]);
    expect(told).toEqual([
      `waiting for ${dir}/0001.response.json (what is asked is in ${dir}/0001.request.json)`,
      `waiting for ${dir}/0002.response.json (what is asked is in ${dir}/0002.request.json)`,
    ]);
    expect(model.name).toBe('file/play');
    expect((await stat(dir)).mode & 0o777).toBe(0o700);
    expect((await stat(join(dir, '0001.request.json'))).mode & 0o777).toBe(0o600);
  });

  test('takes answers that lie there already', async () => {
    await writeFile(responseOf(1), '{"text":"prepared"}');
    expect((await model.generate(requestOf([user('why?')]))).message.content).toBe('prepared');
  });

  test('says what is wrong with an answer, and takes the corrected one', async () => {
    const turn = model.generate(requestOf([user('why?')]));
    await heard('waiting for');
    await writeFile(responseOf(1), '{"text":7,"calls":[{"nam":"look"}]}');
    const words = await heard('please correct');
    expect(words).toContain(responseOf(1));
    expect(words).toMatch(/expected string, received number[\s\S]*→ at text/);
    expect(words).toMatch(/→ at calls\[0\]\.name/);
    await writeFile(responseOf(1), '{}');
    expect(await heard('please correct')).toContain('give "text", "calls", or "error"');
    await writeFile(responseOf(1), '{"text":"better"}');
    expect((await turn).message.content).toBe('better');
    expect(told).toHaveLength(3);
  });

  test('waits for the rest of an answer that is still being written', async () => {
    const turn = model.generate(requestOf([user('why?')]));
    await heard('waiting for');
    const watcher = watch(dir);
    for (const part of ['', '{"te', '{"text":"who', '{"text":"whole"}']) {
      const seen = once(watcher, 'change');
      await writeFile(responseOf(1), part);
      await seen;
    }
    watcher.close();
    expect((await turn).message.content).toBe('whole');
    expect(told).toHaveLength(1);
  });

  test('says that an answer is not JSON if it stays so', async () => {
    const turn = model.generate(requestOf([user('why?')]));
    await heard('waiting for');
    await writeFile(responseOf(1), 'It was the rounding.');
    expect(await heard('please correct')).toContain('is not valid JSON');
    await writeFile(responseOf(1), '{"text":"It was the rounding."}');
    expect((await turn).message.content).toBe('It was the rounding.');
  });

  test.each(['retry', 'switch', 'stop', 'too-long'] as const)('fails as it is told to: %s', async (kind) => {
    const player = play([{ error: 'no more tokens', kind }]);
    const failure = await model.generate(requestOf([user('why?')])).catch((error: unknown) => error);
    expect(failure).toBeInstanceOf(ModelError);
    expect(failure).toMatchObject({ kind, message: 'no more tokens' });
    await player;
  });

  test('stops waiting at once when aborted, with the reason', async () => {
    const controller = new AbortController();
    const reason = new Error('interrupted');
    const turn = model.generate(requestOf([user('why?')], { signal: controller.signal }));
    await heard('waiting for');
    controller.abort(reason);
    const soon = new Promise((_, reject) => setTimeout(reject, 100, 'still waiting'));
    await expect(Promise.race([turn, soon])).rejects.toBe(reason);
    expect(await readdir(dir)).toEqual(['0001.request.json']);
  });

  test('does not mistake the answers of an earlier run for its own', async () => {
    await writeFile(responseOf(1), '{"text":"old"}');
    await model.generate(requestOf([user('why?')]));
    await expect(open()).rejects.toThrow(`${dir} holds the requests of another run; give a new folder`);
  });
});

async function open(): Promise<Model> {
  return openFileModel({ dir, tell: (words) => told.push(words) });
}

/** What is told next; it has to contain this. */
async function heard(part: string): Promise<string> {
  await expect.poll(() => told[heardSoFar], { timeout: 5_000 }).toContain(part);
  heardSoFar += 1;
  return told[heardSoFar - 1] ?? '';
}

function responseOf(call: number): string {
  return join(dir, `000${call}.response.json`);
}

/** The other program: sees requests appear and answers each, whole at once. Gives back what it was asked. */
async function play(answers: object[]): Promise<unknown[]> {
  const seen: unknown[] = [];
  for (const [index, answer] of answers.entries()) {
    const request = join(dir, `000${index + 1}.request.json`);
    seen.push(JSON.parse(await readWhenThere(request)));
    await writeFile(join(dir, 'draft'), JSON.stringify(answer));
    await rename(join(dir, 'draft'), responseOf(index + 1));
  }
  return seen;
}

async function readWhenThere(path: string): Promise<string> {
  const watcher = watch(dir);
  try {
    while (true) {
      const changed = once(watcher, 'change');
      const text = await readFile(path, 'utf8').catch(() => null);
      if (text !== null) return text;
      await changed;
    }
  } finally {
    watcher.close();
  }
}
