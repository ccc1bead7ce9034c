// The vocabulary of a conversation: what is in memory is what is saved, whoever the model is.
export type Message = UserMessage | AssistantMessage | ToolMessage;

export interface UserMessage {
  role: 'user';
  content: string;
  /** The note it came from; so that a reply that is worked on again is not asked again. */
  noteId?: number;
  /** What it tells has failed, by ids; so that a failure that is heard of again is not looked into again. */
  failures?: string[];
  /** It sums up turns that were cut; nobody has asked it. */
  isSummary?: true;
  /** Of the turns that were cut. */
  files?: AnswerFile[];
}

export interface AssistantMessage {
  role: 'assistant';
  /** Empty when the model only called tools. */
  content: string;
  toolCalls: ToolCall[];
  /** What the provider sent, replayed verbatim to the same provider and to nobody else. */
  native?: NativeContent;
  /**
   * Of the conversation up to here, this message included, as the model that wrote it counted, with the system text and
   * the tools of this frame; without a frame where they may not have been counted.
   */
  size?: { tokens: number; model: string; frame?: string };
  /** An answer as it was published, so that publishing can be repeated. */
  published?: string;
}

export interface ToolMessage {
  role: 'tool';
  toolCallId: string;
  name: string;
  /** A JSON text. */
  content: string;
  isError: boolean;
  /** A data source's own words; what a command printed may be anybody's. */
  isSourced?: true;
  /** The files that data sources' answers went to. */
  files?: AnswerFile[];
}

/** A file of the sandbox as it was written: only as long as it has this hash it is what the data source said. */
export interface AnswerFile {
  path: string;
  sha256: string;
  bytes: number;
  /** Whose answer it is, and to which question. */
  tool: string;
  args: Record<string, unknown>;
  kind: 'log' | 'json' | 'text';
}

export interface ToolCall {
  id: string;
  name: string;
  arguments: Record<string, unknown>;
}

export interface NativeContent {
  /** Which provider wrote it: `anthropic`, `gemini`, `openai`. */
  author: string;
  content: unknown;
}
