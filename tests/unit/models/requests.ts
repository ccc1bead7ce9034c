import type { AssistantMessage, Message, ToolMessage, UserMessage } from '../../../src/agent/messages.ts';
import type { ModelRequest } from '../../../src/agent/model.ts';

export const KEY = 'sk-secret-0123456789';

export function requestOf(messages: Message[], more: Partial<ModelRequest> = {}): ModelRequest {
  return {
    system: 'You are Hummingbird.',
    messages,
    tools: [
      {
        name: 'sandbox_exec',
        description: 'Runs a command',
        inputSchema: { type: 'object', properties: { command: { type: 'string' } }, required: ['command'] },
      },
    ],
    toolsDisabled: false,
    maxOutputTokens: 1234,
    signal: new AbortController().signal,
    ...more,
  };
}

export function user(content: string): UserMessage {
  return { role: 'user', content };
}

export function assistant(content: string, ...ids: string[]): AssistantMessage {
  const toolCalls = ids.map((id) => ({ id, name: 'sandbox_exec', arguments: { command: id } }));
  return { role: 'assistant', content, toolCalls };
}

export function result(toolCallId: string, content = '{"exit_code":0}', isError = false): ToolMessage {
  return { role: 'tool', toolCallId, name: 'sandbox_exec', content, isError };
}
