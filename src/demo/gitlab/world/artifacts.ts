import type { Artifacts } from '../model.ts';
import type { World } from '../state.ts';
import { packZip } from '../zip.ts';
import { jobById } from './find.ts';

export type NewArtifacts = {
  jobId: number;
  files: Readonly<Record<string, string | Buffer>>;
  /** Instead of what the files make; for archives that are broken. */
  archive?: Buffer;
  /** Kept beside the archive: `junit`, `dotenv`, … */
  reports?: readonly string[];
};

export function addArtifacts(world: World, input: NewArtifacts): Artifacts {
  const files = new Map(Object.entries(input.files).map(([path, content]) => [path, Buffer.from(content)]));
  const artifacts: Artifacts = {
    files,
    archive: input.archive ?? packZip(files),
    reports: [...(input.reports ?? [])],
  };
  world.artifacts.set(jobById(world, input.jobId).id, artifacts);
  return artifacts;
}
