/** An MCP server as the operator attached it. */
export interface McpServer {
  /** Its tools begin with it. */
  name: string;
  /** What of it may be called; the operator vouches that these only read. */
  tools: readonly string[];
  /** For the system prompt: when to use what. */
  notes?: string | undefined;
  timeoutMs: number;
  reach: McpReach;
}

export type McpReach =
  /** A process of ours; it gets a minimal environment and these variables. */
  | { kind: 'stdio'; command: string; args: readonly string[]; env: Readonly<Record<string, string>> }
  | { kind: 'http'; url: string; token?: string | undefined };
