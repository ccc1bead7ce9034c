import type { Group } from './groups.ts';
import type { Message, ToolMessage } from './messages.ts';

/** Puts a text where the model can read it again; null when there is no room for it. */
export type KeepFile = (name: string, text: string) => Promise<string | null>;

const WORTH_PRUNING_BYTES = 600;
const SHOWN_CHARS = 160;

/** Old results give way to the name of the file that still holds them. */
export async function pruneResults(groups: readonly Group[], keepFile: KeepFile): Promise<Group[]> {
  return Promise.all(
    groups.map((group) => Promise.all(group.map((message) => pruneResult(message, keepFile)))),
  );
}

async function pruneResult(message: Message, keepFile: KeepFile): Promise<Message> {
  if (message.role !== 'tool' || message.content.length < WORTH_PRUNING_BYTES || isPruned(message))
    return message;
  const files = filesOf(message);
  const kept = files.length > 0 ? files : [await keepFile(`${message.name}.json`, message.content)];
  const content = {
    pruned: 'This result was removed to save room.',
    saved_to: kept.filter((file) => file !== null),
    began: message.content.slice(0, SHOWN_CHARS),
  };
  return { ...message, content: JSON.stringify(content) };
}

function isPruned({ content }: ToolMessage): boolean {
  return content.startsWith('{"pruned":');
}

/** The files that a result says it is in. */
export function filesOf({ content }: ToolMessage): string[] {
  return [...content.matchAll(/"(?:saved_to|stdout_file|stderr_file)":\[?"(\/[^"\\]+)"/g)].map(
    ([, path = '']) => path,
  );
}
