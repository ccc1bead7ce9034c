// What the loop adds to the calls it makes: 50 turns on a vendor without latency, beside a bare loop that sends the
// same over the same SDK.
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import Anthropic from '@anthropic-ai/sdk';
import { createCompaction } from '../src/agent/compaction.ts';
import { createGate } from '../src/agent/gate.ts';
import { runLoop } from '../src/agent/loop.ts';
import { createRepeatGuard } from '../src/agent/repeats.ts';
import type { Toolbox } from '../src/agent/toolbox.ts';
import { createAnthropicModel } from '../src/models/anthropic.ts';
import { toEvents } from '../tests/services/model-wire.ts';

const TURNS = 50;
const RESULT = 'a line of a log\n'.repeat(100);
const MODEL = 'claude-sonnet-5-5';
const EVENT = '{"project":"group/app","iid":42,"sha":"abc","session_id":"1"}';

const WARM_UP = 50;
const ROUNDS = 200;
const ARMS = { bare: runBare, ours: runOurs };
type Arm = keyof typeof ARMS;

const server = createServer((request, response) => {
  request.resume().on('end', () => {
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    asked += 1;
    // As vendors count, roughly.
    const tokens = Math.ceil(Number(request.headers['content-length']) / 4);
    response.end(asked % TURNS === 0 ? toAnswer(tokens) : toCall(asked, tokens));
  });
});
let asked = 0;
let baseURL = '';

const [, program = '', arm] = process.argv;
if (arm === undefined) await compare();
else await answerRounds(arm as Arm);

/** In processes of their own, or one would pay for what the other has left to the compiler and the garbage collector. */
async function compare(): Promise<void> {
  const bare = openArm('bare');
  const ours = openArm('ours');
  const times = { bare: [] as number[][], ours: [] as number[][] };
  for (let round = -WARM_UP; round < ROUNDS; round += 1) {
    // In turn, so that both see the same machine.
    const [one, other] = [await bare.run(), await ours.run()];
    if (round < 0) continue;
    times.bare.push(one);
    times.ours.push(other);
  }
  bare.close();
  ours.close();
  const sums = (runs: number[][], from = 0, to = TURNS): number[] =>
    runs.map((turns) => turns.slice(from, to).reduce((a, b) => a + b, 0)).sort((a, b) => a - b);
  const usual = (sorted: number[]): number => sorted[sorted.length >> 1] as number;
  const quickest = (sorted: number[]): number => sorted[0] as number;
  const print = (name: string, bare: number, ours: number): void =>
    console.log(
      `${name.padEnd(18)}${bare.toFixed(1).padStart(10)}${ours.toFixed(1).padStart(10)}${(ours / bare).toFixed(2).padStart(9)}x`,
    );
  console.log(
    `${TURNS} turns, the median of ${ROUNDS} runs, in ms\n${'bare'.padStart(28)}${'loop'.padStart(10)}${'ratio'.padStart(10)}`,
  );
  print('all turns', usual(sums(times.bare)), usual(sums(times.ours)));
  print('turns 2 to 11', usual(sums(times.bare, 1, 11)), usual(sums(times.ours, 1, 11)));
  print('the last 10', usual(sums(times.bare, TURNS - 10)), usual(sums(times.ours, TURNS - 10)));
  print('the quickest run', quickest(sums(times.bare)), quickest(sums(times.ours)));
}

function openArm(arm: Arm) {
  const child = fork(program, [arm]);
  return {
    async run(): Promise<number[]> {
      child.send('run');
      const [turns] = await once(child, 'message');
      return turns;
    },
    close: () => child.disconnect(),
  };
}

/** Tells how long each turn of a run took, as often as it is asked. */
async function answerRounds(arm: Arm): Promise<void> {
  await once(server.listen(0, '127.0.0.1'), 'listening');
  baseURL = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  process.on('message', async () => process.send?.(await ARMS[arm]()));
  process.once('disconnect', () => process.exit());
}

async function runBare(): Promise<number[]> {
  const client = new Anthropic({ apiKey: 'none', baseURL, maxRetries: 0 });
  const messages: Anthropic.MessageParam[] = [{ role: 'user', content: [{ type: 'text', text: EVENT }] }];
  const turns: number[] = [];
  const { signal } = new AbortController();
  while (true) {
    const start = performance.now();
    const stream = await client.messages.create(
      {
        model: MODEL,
        max_tokens: 16_000,
        stream: true,
        system: 'Find the cause.',
        tools: [{ name: 'look', description: 'Looks.', input_schema: { type: 'object' } }],
        messages: messages.map((one, index) => (index >= messages.length - 3 ? marked(one) : one)),
      },
      { signal },
    );
    let input = '';
    let id = '';
    for await (const event of stream) {
      if (event.type === 'content_block_start' && event.content_block.type === 'tool_use')
        id = event.content_block.id;
      if (event.type === 'content_block_delta' && event.delta.type === 'input_json_delta')
        input += event.delta.partial_json;
    }
    if (id !== '') {
      messages.push({
        role: 'assistant',
        content: [{ type: 'tool_use', id, name: 'look', input: JSON.parse(input) }],
      });
      messages.push({
        role: 'user',
        content: [
          {
            type: 'tool_result',
            tool_use_id: id,
            content: JSON.stringify({ stdout: RESULT, at: turns.length }),
            is_error: false,
          },
        ],
      });
    }
    turns.push(performance.now() - start);
    if (id === '') return turns;
  }
}

/** What is asked comes to the cache, and what was asked before is read from it. */
function marked(message: Anthropic.MessageParam): Anthropic.MessageParam {
  if (message.role !== 'user' || typeof message.content === 'string') return message;
  const cached = { cache_control: { type: 'ephemeral' } } as const;
  return { role: 'user', content: message.content.map((block) => Object.assign({}, block, cached)) };
}

async function runOurs(): Promise<number[]> {
  const turns: number[] = [];
  let count = 0;
  const toolbox: Toolbox = {
    definitions: [{ name: 'look', description: 'Looks.', inputSchema: { type: 'object' } }],
    notes: '',
    gaps: () => [],
    isParallel: () => true,
    execute: async () => {
      count += 1;
      return { result: { stdout: RESULT, at: count }, isError: false };
    },
  };
  const loop = runLoop({
    model: createAnthropicModel({ model: MODEL, apiKey: 'none', baseUrl: baseURL }),
    toolbox,
    system: 'Find the cause.',
    messages: [{ role: 'user', content: EVENT }],
    maxIterations: 2 * TURNS,
    contextLimit: 1_000_000,
    maxOutputTokens: 16_000,
    compaction: createCompaction({
      contextLimit: 1_000_000,
      ratio: 0.75,
      side: null,
      keepFile: async () => null,
      archive: async () => undefined,
    }),
    hooks: [createRepeatGuard(), createGate({ judge: null })],
    checkpoint: async () => undefined,
    signal: new AbortController().signal,
  });
  let start = performance.now();
  for await (const event of loop) {
    if (event.type !== 'checkpoint') continue;
    turns.push(performance.now() - start);
    start = performance.now();
  }
  if (turns.length !== TURNS) throw new Error(`the run took ${turns.length} turns instead of ${TURNS}`);
  return turns;
}

function toCall(turn: number, tokens: number): string {
  return toMessage(
    [
      {
        type: 'content_block_start',
        index: 0,
        content_block: { type: 'tool_use', id: `toolu_${turn}`, name: 'look', input: {} },
      },
      {
        type: 'content_block_delta',
        index: 0,
        delta: { type: 'input_json_delta', partial_json: `{"at":${turn}}` },
      },
      { type: 'content_block_stop', index: 0 },
    ],
    { stopReason: 'tool_use', tokens },
  );
}

function toAnswer(tokens: number): string {
  return toMessage(
    [
      { type: 'content_block_start', index: 0, content_block: { type: 'text', text: '' } },
      {
        type: 'content_block_delta',
        index: 0,
        delta: { type: 'text_delta', text: 'The build ran out of memory.' },
      },
      { type: 'content_block_stop', index: 0 },
    ],
    { stopReason: 'end_turn', tokens },
  );
}

function toMessage(blocks: object[], { stopReason, tokens }: { stopReason: string; tokens: number }): string {
  const usage = {
    input_tokens: tokens,
    output_tokens: 10,
    cache_creation_input_tokens: 0,
    cache_read_input_tokens: 0,
  };
  return toEvents(
    {
      type: 'message_start',
      message: {
        id: 'msg',
        type: 'message',
        role: 'assistant',
        model: MODEL,
        content: [],
        stop_reason: null,
        stop_sequence: null,
        usage,
      },
    },
    ...blocks,
    { type: 'message_delta', delta: { stop_reason: stopReason, stop_sequence: null }, usage },
    { type: 'message_stop' },
  );
}
