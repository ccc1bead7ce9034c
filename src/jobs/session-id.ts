import { createHash } from 'node:crypto';

export interface SessionSubject {
  projectId: number;
  mrIid: number;
  sha: string;
  workflow: string;
}

/** The same commit, merge request and workflow are the same session, in every process and after every crash. */
export function toSessionId({ projectId, mrIid, sha, workflow }: SessionSubject): string {
  const hex = createHash('sha256').update([projectId, mrIid, sha, workflow].join('\n')).digest('hex');
  return [hex.slice(0, 8), hex.slice(8, 12), hex.slice(12, 16), hex.slice(16, 20), hex.slice(20, 32)].join(
    '-',
  );
}
