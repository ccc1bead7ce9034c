// Puts a streamed answer together out of its chunks.
import type {
  FinishReason,
  GenerateContentResponse,
  GenerateContentResponseUsageMetadata,
  Part,
} from '@google/genai';
import { type Delta, ModelError } from '../agent/model.ts';

export interface WholeAnswer {
  parts: Part[];
  finishReason: FinishReason;
  usage: GenerateContentResponseUsageMetadata;
}

export async function readAnswer(
  chunks: AsyncIterable<GenerateContentResponse>,
  onDelta: (delta: Delta) => void,
): Promise<WholeAnswer> {
  const parts: Part[] = [];
  let finishReason: FinishReason | undefined;
  let usage: GenerateContentResponseUsageMetadata = {};
  for await (const chunk of chunks) {
    const blocked = chunk.promptFeedback?.blockReason;
    if (blocked) throw new ModelError('switch', `gemini refused the prompt: ${blocked}`);
    // Each chunk tells the totals so far.
    usage = chunk.usageMetadata ?? usage;
    const candidate = chunk.candidates?.[0];
    finishReason = candidate?.finishReason ?? finishReason;
    for (const part of candidate?.content?.parts ?? []) {
      addPart(parts, part);
      if (part.text) onDelta({ kind: part.thought ? 'thinking' : 'text', text: part.text });
      const call = part.functionCall;
      // Calls come whole.
      if (call) onDelta({ kind: 'call', name: call.name ?? '', text: JSON.stringify(call.args ?? {}) });
    }
  }
  if (!finishReason) throw new ModelError('retry', 'gemini: the stream ended before the answer did');
  return { parts, finishReason, usage };
}

/** Only bare texts may be joined: a signature belongs to the part it came with. */
function addPart(parts: Part[], part: Part): void {
  const last = parts.at(-1);
  if (isBare(part) && part.text === '') return;
  if (last && isBare(last) && isBare(part) && last.thought === part.thought)
    parts[parts.length - 1] = { ...last, text: `${last.text}${part.text}` };
  else parts.push(part);
}

function isBare(part: Part): boolean {
  return part.text !== undefined && Object.keys(part).every((key) => key === 'text' || key === 'thought');
}
