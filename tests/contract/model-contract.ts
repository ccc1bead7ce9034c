import { describe, expect, test } from 'vitest';
import type { Message } from '../../src/agent/messages.ts';
import type { Delta, Model, ModelRequest } from '../../src/agent/model.ts';

export interface Stage extends AsyncDisposable {
  model: Model;
  /** What it is asked first; it calls tools then, two of them at once in one of its turns, and answers in the end. */
  first: ModelRequest;
}

/** What the loop relies on, whoever the model is. */
export function modelContract(name: string, open: () => Promise<Stage>): void {
  describe(name, () => {
    test('calls tools until it answers, and takes its own turns back', async () => {
      await using stage = await open();
      const { turns } = await converse(stage);
      expect(
        turns
          .slice(0, -1)
          .every(({ stop, message }) => stop === 'tool-calls' && message.toolCalls.length > 0),
      ).toBe(true);
      expect(turns.at(-1)).toMatchObject({ stop: 'end', message: { toolCalls: [] } });
      expect(turns.at(-1)?.message.content).not.toBe('');
      expect(turns.some(({ message }) => message.toolCalls.length > 1)).toBe(true);
    });

    test('says while it writes what it has said in the end', async () => {
      await using stage = await open();
      const { turns, heard } = await converse(stage);
      for (const [index, { message }] of turns.entries()) {
        const deltas = heard[index] ?? [];
        const text = deltas.flatMap((delta) => (delta.kind === 'text' ? [delta.text] : [])).join('');
        const args = deltas.flatMap((delta) => (delta.kind === 'call' ? [delta.text] : [])).join('');
        expect(text).toBe(message.content);
        expect(args).toBe(message.toolCalls.map((call) => JSON.stringify(call.arguments)).join(''));
      }
    });

    test('names each call once, and counts what it used', async () => {
      await using stage = await open();
      const { turns } = await converse(stage);
      const ids = turns.flatMap(({ message }) => message.toolCalls.map(({ id }) => id));
      expect(new Set(ids).size).toBe(ids.length);
      for (const { usage } of turns) {
        expect(Object.values(usage).every((tokens) => tokens >= 0)).toBe(true);
        expect(usage.inputTokens + usage.cacheReadTokens + usage.cacheWriteTokens).toBeGreaterThan(0);
      }
    });

    test('asks nothing when it was aborted before', async () => {
      await using stage = await open();
      const reason = new Error('closed');
      const asked = stage.model.generate({ ...stage.first, signal: AbortSignal.abort(reason) });
      await expect(asked).rejects.toBe(reason);
    });

    test('refuses a history in which a call has no result', async () => {
      await using stage = await open();
      const { message } = await stage.model.generate(stage.first);
      const broken: Message[] = [...stage.first.messages, message, { role: 'user', content: 'And?' }];
      await expect(stage.model.generate({ ...stage.first, messages: broken })).rejects.toMatchObject({
        name: 'ModelError',
        kind: 'stop',
      });
    });
  });
}

async function converse({ model, first }: Stage) {
  const messages = [...first.messages];
  const turns: Awaited<ReturnType<Model['generate']>>[] = [];
  const heard: Delta[][] = [];
  do {
    const deltas: Delta[] = [];
    const turn = await model.generate({ ...first, messages, onDelta: (delta) => deltas.push(delta) });
    turns.push(turn);
    heard.push(deltas);
    const results = turn.message.toolCalls.map(({ id, name }) => ({
      role: 'tool' as const,
      toolCallId: id,
      name,
    }));
    messages.push(
      turn.message,
      ...results.map((one) => ({ ...one, content: '{"result":"…"}', isError: false })),
    );
  } while ((turns.at(-1)?.message.toolCalls.length ?? 0) > 0 && turns.length < 20);
  return { turns, heard };
}
