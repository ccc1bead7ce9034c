import type { MergeRequestHook } from './payloads.ts';
import { ignore, type Routing, take } from './routing.ts';

export function routeMergeRequest(hook: MergeRequestHook): Routing {
  const mr = hook.object_attributes;
  const change = toChange(mr);
  if (!change) return ignore(`merge request action '${mr.action ?? 'none'}' changes no commit`);
  const job = {
    kind: 'mr-changed' as const,
    project: { id: hook.project.id, path: hook.project.path_with_namespace },
    mrIid: mr.iid,
    change,
    sha: mr.last_commit?.id ?? '',
  };
  return take(job, mr.iid, change, job.sha, mr.updated_at);
}

function toChange(mr: MergeRequestHook['object_attributes']): 'pushed' | 'closed' | 'merged' | null {
  if (mr.action === 'close') return 'closed';
  if (mr.action === 'merge') return 'merged';
  // An update without an old revision is an edited title, label or description.
  return mr.action === 'update' && mr.oldrev ? 'pushed' : null;
}
