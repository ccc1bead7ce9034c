import { NO_USAGE } from '../../src/agent/model.ts';
import type { SessionMeta } from '../../src/session/session-store.ts';

export function newMeta(sessionId: string, changed: Partial<SessionMeta> = {}): SessionMeta {
  return {
    version: 1,
    sessionId,
    projectId: 5,
    projectPath: 'group/app',
    mrIid: 7,
    visibility: 'private',
    sha: 'abc123',
    workflow: 'analyze-failures',
    model: 'claude',
    createdAt: '2026-01-01T00:00:00.000Z',
    updatedAt: '2026-01-02T00:00:00.000Z',
    ending: null,
    runs: 0,
    usage: NO_USAGE,
    costMicroUsd: 0,
    leftOut: [],
    ...changed,
  };
}
