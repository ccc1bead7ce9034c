// A model and tools that follow a script and keep what they were asked.
import type { Message, ToolCall } from '../../../src/agent/messages.ts';
import {
  type Model,
  type ModelRequest,
  type ModelTurn,
  NO_USAGE,
  type Usage,
} from '../../../src/agent/model.ts';
import type { Toolbox } from '../../../src/agent/toolbox.ts';

export interface ScriptedTurn {
  text?: string;
  calls?: { name: string; arguments?: Record<string, unknown> }[];
  stop?: ModelTurn['stop'];
  /** `counted`: as a vendor would, with tokens of four bytes. */
  usage?: Partial<Usage> | 'counted';
  throws?: unknown;
}

export type SeenRequest = Omit<ModelRequest, 'signal' | 'onDelta' | 'onEvent' | 'messages'> & {
  messages: unknown[];
};

export function scriptedModel(turns: ScriptedTurn[] | ((index: number) => ScriptedTurn)) {
  const requests: SeenRequest[] = [];
  const model: Model = {
    name: 'scripted/test',
    async generate({ signal, onDelta, onEvent: _, messages, ...rest }) {
      const index = requests.length;
      requests.push({ ...rest, messages: structuredClone([...messages]) });
      signal.throwIfAborted();
      const turn = typeof turns === 'function' ? turns(index) : turns[index];
      if (!turn) throw new Error(`the script has no turn ${index + 1}`);
      if (turn.throws) throw turn.throws;
      for (const text of turn.text?.match(/.{1,10}/gs) ?? []) onDelta?.({ kind: 'text', text });
      const toolCalls: ToolCall[] = (turn.calls ?? []).map((call, at) => ({
        id: `call-${index}-${at}`,
        name: call.name,
        arguments: call.arguments ?? {},
      }));
      return {
        message: { role: 'assistant', content: turn.text ?? '', toolCalls },
        usage: { ...NO_USAGE, ...(turn.usage === 'counted' ? count(rest, messages) : turn.usage) },
        stop: turn.stop ?? (toolCalls.length > 0 ? 'tool-calls' : 'end'),
      };
    },
  };
  return { model, requests };
}

function count({ system, tools }: Partial<ModelRequest>, messages: readonly Message[]): Partial<Usage> {
  const said = messages.map((one) => [one.content, one.role === 'assistant' ? one.toolCalls : one.role]);
  return { inputTokens: Math.ceil(Buffer.byteLength(JSON.stringify([system, tools, said])) / 4) };
}

export function scriptedTools(
  answer: (call: ToolCall, signal: AbortSignal) => Promise<Record<string, unknown>> = async () => ({
    ok: true,
  }),
) {
  const executed: ToolCall[] = [];
  const toolbox: Toolbox = {
    definitions: [{ name: 'look', description: 'Looks.', inputSchema: { type: 'object' } }],
    notes: 'Look well.',
    gaps: () => [],
    isParallel: () => false,
    async execute(call, { signal }) {
      executed.push(call);
      const result = await answer(call, signal);
      return { result, isError: 'error' in result };
    },
  };
  return { toolbox, executed };
}
