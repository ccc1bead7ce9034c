// The merge request's change. Its diffs have whole files as context, so the files come from them.

/** What the merge request does to each file, and the mistake: the default is everybody's, not the invoices'. */
export const CHANGES = [
  {
    path: 'src/pricing/round.ts',
    diff: `@@ -1,6 +1,16 @@
 import settings from '../../config/pricing.json' with { type: 'json' };
 
-/** Rounds to whole cents. */
-export function roundCents(cents: number): number {
-  return Math.floor(cents + 0.5);
+export type Rounding = 'half-up' | 'half-even';
+
+/** Rounds to whole cents, as the settings say unless told. */
+export function roundCents(cents: number, rounding = settings.rounding as Rounding): number {
+  return rounding === 'half-even' ? roundHalfEven(cents) : Math.floor(cents + 0.5);
+}
+
+function roundHalfEven(cents: number): number {
+  const down = Math.floor(cents);
+  const rest = cents - down;
+  if (rest < 0.5) return down;
+  if (rest > 0.5) return down + 1;
+  return down % 2 === 0 ? down : down + 1;
 }
`,
  },
  {
    path: 'config/pricing.json',
    diff: `@@ -1,6 +1,6 @@
 {
   "currency": "EUR",
   "minorUnits": 2,
-  "rounding": "half-up",
+  "rounding": "half-even",
   "taxBasisPoints": 2100
 }
`,
  },
  {
    path: 'tests/unit/invoices/invoice-total.test.ts',
    diff: `@@ -1,8 +1,8 @@
 import { expect, test } from 'vitest';
 import { invoiceTotal } from '../../../src/invoices/invoice-total.ts';
 
-test('a half cent is rounded up', () => {
+test('a half cent goes to the even cent', () => {
   const lines = [{ cents: 1250, taxBasisPoints: 2100 }];
 
-  expect(invoiceTotal(lines)).toBe(1513);
+  expect(invoiceTotal(lines)).toBe(1512);
 });
`,
  },
] as const;

/** The file before the change. */
export function fileBefore(diff: string): string {
  return linesOf(diff, '-');
}

/** The file after the change. */
export function fileAfter(diff: string): string {
  return linesOf(diff, '+');
}

function linesOf(diff: string, side: '-' | '+'): string {
  return diff
    .split('\n')
    .slice(1)
    .filter((line) => line.startsWith(' ') || line.startsWith(side))
    .map((line) => `${line.slice(1)}\n`)
    .join('');
}
