/** To sort by, where the rest may stay as it is. */
export function failedFirst(a: { status: string }, b: { status: string }): number {
  return Number(b.status === 'failed') - Number(a.status === 'failed');
}
