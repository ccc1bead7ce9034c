// A model played by a person or another program: requests and answers are files.
import { mkdir, readdir } from 'node:fs/promises';
import { basename, join, resolve } from 'node:path';
import type { Message } from '../agent/messages.ts';
import { type Model, ModelError, type ModelTurn, NO_USAGE } from '../agent/model.ts';
import { PermanentError } from '../errors.ts';
import { replaceFile } from '../replace-file.ts';
import { toAskedRequest, toCallName, toReadableJson } from './asked-request.ts';
import { awaitResponse } from './await-response.ts';
import { createCallIds } from './call-ids.ts';
import type { FileResponse } from './file-response.ts';

export interface FileModelOptions {
  /** Made if it is not there. Answers may lie in it beforehand, requests may not. */
  dir: string;
  /** Hears which file is waited for, and what is wrong with it. */
  tell: (words: string) => void;
}

export async function openFileModel({ dir, tell }: FileModelOptions): Promise<Model> {
  await mkdir(dir, { recursive: true, mode: 0o700 });
  if ((await readdir(dir)).some((name) => name.endsWith('.request.json')))
    throw new PermanentError(`${dir} holds the requests of another run; give a new folder`);
  let call = 0;
  return {
    name: `file/${basename(resolve(dir))}`,
    async generate(request) {
      request.signal.throwIfAborted();
      call += 1;
      const [asked, answered] = ['request', 'response'].map((kind) =>
        join(dir, `${toCallName(call)}.${kind}.json`),
      ) as [string, string];
      await replaceFile(asked, toReadableJson(toAskedRequest(request)));
      tell(`waiting for ${answered} (what is asked is in ${asked})`);
      const turn = toTurn(await awaitResponse(answered, { signal: request.signal, tell }), request.messages);
      if (turn.message.content !== '') request.onDelta?.({ kind: 'text', text: turn.message.content });
      return turn;
    },
  };
}

function toTurn(response: FileResponse, history: readonly Message[]): ModelTurn {
  if ('error' in response) throw new ModelError(response.kind, response.error);
  const toId = createCallIds(history);
  const { text = '', calls = [] } = response;
  const toolCalls = calls.map((call, index) => ({ id: toId(undefined, index), ...call }));
  return {
    message: { role: 'assistant', content: text, toolCalls },
    usage: NO_USAGE,
    stop: toolCalls.length > 0 ? 'tool-calls' : 'end',
  };
}
