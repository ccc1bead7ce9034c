// One engine for all test files, started when the first of them asks for it.
import { inject } from 'vitest';
import { findDockerGap } from './docker.ts';

export const dockerGap = findDockerGap();

/** The first time on a machine, an image is built. */
export const ENGINE_MS = 300_000;

export function titleWithDocker(subject: string): string {
  return dockerGap === null ? subject : `${subject} (skipped: ${dockerGap})`;
}

export async function sharedDocker(): Promise<{ socketPath: string; image: string }> {
  const response = await fetch(inject('dockerUrl'));
  const answer = await response.text();
  if (!response.ok) throw new Error(`the engine of the tests did not start: ${answer}`);
  return JSON.parse(answer);
}
