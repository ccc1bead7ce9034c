import type Docker from 'dockerode';
import { ensureRemoved } from './container.ts';
import { EXPIRES_LABEL, LABEL } from './container-options.ts';
import { ask } from './engine.ts';

/** A container is made and started in a moment; whoever made this one has died in between. */
const NEVER_STARTED_MS = 300_000;

/**
 * Removes what dead workers have left. One that runs belongs to somebody alive, since a container ends with the worker
 * that started it; only if that went wrong does it run past its time. Several workers may share an engine.
 */
export async function reap(engine: Docker): Promise<number> {
  const filters = { label: [LABEL] };
  const all = await ask('looking for old sandboxes', engine.listContainers({ all: true, filters }));
  const leftovers = all.filter((container) => isLeftover(container, Date.now()));
  for (const { Id } of leftovers) await ensureRemoved(engine.getContainer(Id));
  return leftovers.length;
}

function isLeftover({ State, Created, Labels }: Docker.ContainerInfo, now: number): boolean {
  if (Number(Labels[EXPIRES_LABEL]) < now) return true;
  if (State === 'created') return Created * 1000 + NEVER_STARTED_MS < now;
  return State === 'exited' || State === 'dead';
}
