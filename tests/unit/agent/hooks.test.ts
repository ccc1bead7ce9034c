import { describe, expect, test } from 'vitest';
import type { Hooks } from '../../../src/agent/hooks.ts';
import { NO_USAGE } from '../../../src/agent/model.ts';
import { run, typesOf } from './run-loop.ts';
import { scriptedTools } from './scripted.ts';

const look = { name: 'look' };

describe('hooks', () => {
  test('are asked in their order, before and after agent, model and tool', async () => {
    const asked: string[] = [];
    const hook = (name: string): Hooks => ({
      beforeAgent: () => void asked.push(`${name} beforeAgent`),
      beforeModel: () => void asked.push(`${name} beforeModel`),
      afterModel: () => void asked.push(`${name} afterModel`),
      beforeTool: () => void asked.push(`${name} beforeTool`),
      afterTool: () => void asked.push(`${name} afterTool`),
      afterAgent: () => void asked.push(`${name} afterAgent`),
    });
    await run([{ calls: [look] }, { text: 'Done.' }], { hooks: [hook('a'), hook('b')] });
    expect(asked).toEqual(
      [
        'beforeAgent',
        'beforeModel',
        'afterModel',
        'beforeTool',
        'afterTool',
        'beforeModel',
        'afterModel',
        'afterAgent',
      ].flatMap((at) => [`a ${at}`, `b ${at}`]),
    );
  });

  test('before the model may change the request, for the next hook too', async () => {
    const add = (letter: string): Hooks => ({
      beforeModel: (request) => ({
        request: { ...request, transient: `${request.transient ?? ''}${letter}` },
      }),
    });
    const { requests, messages } = await run([{ text: 'Done.' }], { hooks: [add('x'), add('y')] });
    expect(requests[0]?.transient).toBe('xy');
    expect(messages).toHaveLength(2);
  });

  test('before the model may answer by themselves', async () => {
    const hooks: Hooks[] = [
      {
        beforeModel: () => ({
          turn: {
            message: { role: 'assistant', content: 'From the cache.', toolCalls: [] },
            usage: NO_USAGE,
            stop: 'end',
          },
        }),
      },
    ];
    const { result, requests } = await run([], { hooks });
    expect(result).toMatchObject({ text: 'From the cache.', ending: 'answered' });
    expect(requests).toEqual([]);
  });

  test('before a tool may refuse a call, which the model is told once and which is never saved', async () => {
    const hooks: Hooks[] = [
      { beforeTool: ({ arguments: { at } }) => (at === 2 ? { refuse: 'two is secret' } : undefined) },
    ];
    const calls = [
      { name: 'look', arguments: { at: 1 } },
      { name: 'look', arguments: { at: 2 } },
    ];
    const { requests, executed, saved, events } = await run([{ calls }, { calls }, { text: 'Done.' }], {
      hooks,
    });
    expect(executed.map(({ arguments: { at } }) => at)).toEqual([1, 1]);
    expect(requests[1]?.transient).toContain('two is secret');
    expect(JSON.stringify(saved)).not.toContain('secret');
    expect(saved.at(-1)?.filter(({ role }) => role === 'tool')).toHaveLength(2);
    expect(typesOf(events)).toContain('tool-refused');
  });

  test('after a tool may change what the model sees of its result', async () => {
    const hooks: Hooks[] = [
      { afterTool: () => ({ outcome: { result: { text: '[removed]' }, isError: false } }) },
    ];
    const { messages } = await run([{ calls: [look] }, { text: 'Done.' }], { hooks });
    expect(messages[2]).toMatchObject({ role: 'tool', content: '{"text":"[removed]"}' });
  });

  test('after tools hear of calls in their order, whichever of them ended first', async () => {
    const heard: unknown[] = [];
    const hooks: Hooks[] = [{ afterTool: ({ arguments: { at } }) => void heard.push(at) }];
    const last = Promise.withResolvers<void>();
    const { toolbox } = scriptedTools(async ({ arguments: { at } }) => {
      if (at === 3) last.resolve();
      await last.promise;
      if (at !== 3) await new Promise((resolve) => setImmediate(resolve));
      return { at };
    });
    const calls = [1, 2, 3].map((at) => ({ name: 'look', arguments: { at } }));
    const { events } = await run([{ calls }, { text: 'Done.' }], {
      hooks,
      toolbox: { ...toolbox, isParallel: () => true },
    });
    expect(heard).toEqual([1, 2, 3]);
    const finished = events.flatMap((event) => (event.type === 'tool-finished' ? event.result.at : []));
    expect(finished).toEqual([1, 2, 3]);
  });

  test('after the agent may send the answer back, at most three times; the best text survives', async () => {
    const hooks: Hooks[] = [{ afterAgent: () => ({ sendBack: 'name the file' }) }];
    const { result, requests, saved, events } = await run((index) => ({ text: `answer ${index}` }), {
      hooks,
    });
    expect(result).toMatchObject({ text: 'answer 3', ending: 'answered', iterations: 4 });
    expect(requests[1]?.transient).toMatch(/name the file[\s\S]*answer 0/);
    expect(saved).toHaveLength(1);
    expect(JSON.stringify(saved)).not.toMatch(/name the file|answer 0/);
    const steps = typesOf(events).filter((type) => type === 'sent-back' || type === 'turn-started');
    expect(steps.join(' ')).toBe(
      'turn-started sent-back turn-started sent-back turn-started sent-back turn-started',
    );
  });

  test('that throw end the run as something unexpected, with what there is', async () => {
    const hooks: Hooks[] = [
      {
        afterModel: (_turn, { iteration }) => {
          if (iteration === 2) throw new Error('broken hook');
          return undefined;
        },
      },
    ];
    const usage = { inputTokens: 10 };
    const turns = [
      { text: 'Looking.', calls: [look], usage },
      { text: 'Done.', usage },
    ];
    const { result } = await run(turns, { hooks });
    expect(result).toMatchObject({ text: 'Looking.', ending: 'unexpected-error', reason: 'broken hook' });
    // What nobody gets to see was used all the same.
    expect(result.usage.inputTokens).toBe(20);
  });
});
