// A model vendor on loopback: aimock speaks the wire formats, a function says what the model says.
import type { ChatCompletionRequest, ChatMessage } from '@copilotkit/aimock';
import { type Sent, startWire } from './model-wire.ts';

export interface ScriptedAnswer {
  text?: string;
  calls?: { name: string; arguments?: Record<string, unknown> }[];
  /** Answer with this HTTP status instead; who is in trouble asks for a short wait. */
  status?: number;
  /** How long the request was, as the vendor counts. */
  inputTokens?: number;
}

export type ModelScript = (conversation: ChatMessage[]) => ScriptedAnswer;

export interface ModelServer {
  url: string;
  /** What it says from now on. */
  script: ModelScript;
  /** The conversations it was sent, in aimock's vendor-neutral form. */
  conversations(): ChatMessage[][];
  /** The same on the wire. */
  sent: readonly Sent[];
  stop(): Promise<void>;
}

export async function startModel(script: ModelScript): Promise<ModelServer> {
  const { mock, url, sent, close } = await startWire({ retryAfterMs: 200 });
  const seen: ChatMessage[][] = [];
  const server: ModelServer = {
    url,
    script,
    conversations: () => seen,
    sent,
    stop: close,
  };
  mock.on({}, (request: ChatCompletionRequest) => {
    seen.push(request.messages);
    const inputTokens = Math.ceil(JSON.stringify(request.messages).length / 4);
    return toResponse({ inputTokens, ...server.script(request.messages) }, seen.length);
  });
  return server;
}

function toResponse({ text, calls, status, inputTokens = 0 }: ScriptedAnswer, turn: number) {
  if (status !== undefined)
    return { status, error: { message: 'the vendor is in trouble', type: 'api_error' } };
  const toolCalls = (calls ?? []).map((call, index) => ({
    id: `call_${turn}_${index}`,
    name: call.name,
    arguments: JSON.stringify(call.arguments ?? {}),
  }));
  const usage = { prompt_tokens: inputTokens, completion_tokens: 100 };
  if (toolCalls.length === 0) return { content: text ?? '', usage };
  return text ? { content: text, toolCalls, usage } : { toolCalls, usage };
}

export function textOf({ content }: ChatMessage): string {
  if (typeof content === 'string') return content;
  return (content ?? []).map((part) => part.text ?? '').join('');
}
