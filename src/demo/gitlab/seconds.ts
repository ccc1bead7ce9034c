/** How long something took, in GitLab's unit; null while it is not known. */
export function secondsBetween(from: Date | null, to: Date | null): number | null {
  return from === null || to === null ? null : (to.getTime() - from.getTime()) / 1000;
}
