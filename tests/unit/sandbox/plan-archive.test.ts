import fc from 'fast-check';
import { expect, test } from 'vitest';
import { type MeasuredEntry, planArchive } from '../../../src/sandbox/archive/plan-archive.ts';

test('20,000 small files plan no more than there is room', () => {
  const files = Array.from({ length: 20_000 }, (_, at) => toFile(`/tmp/data/${at}`, 100));

  const plan = planArchive(files, 1_000_000);

  expect(sizeOf(plan.entries, files)).toBeLessThanOrEqual(1_000_000);
  expect(plan.entries.length).toBeGreaterThan(9_900);
  expect(plan.leftOut).toEqual([{ path: `${20_001 - plan.entries.length} files`, bytes: null }]);
});

test('whatever the sizes, only the one note for many may be too much, and saving again changes nothing', () => {
  const files = fc.array(fc.nat(2_000), { minLength: 1, maxLength: 60 });
  fc.assert(
    fc.property(files, fc.nat(20_000), (sizes, maxBytes) => {
      const measured = sizes.map((bytes, at) => toFile(`/tmp/data/${at}`, bytes));
      const plan = planArchive(measured, maxBytes);
      const saved = plan.entries.map(({ path, text }) =>
        text === undefined
          ? toFile(path, measured.find((one) => one.path === path)?.bytes ?? 0)
          : { ...toFile(path, Buffer.byteLength(text)), text },
      );

      expect(sizeOf(plan.entries, measured)).toBeLessThanOrEqual(Math.max(maxBytes, 100));
      expect(new Set(pathsOf(saved)).size).toBe(saved.length);
      if (sizeOf(plan.entries, measured) > maxBytes) return;
      const again = planArchive(saved, maxBytes);
      expect(pathsOf(again.entries)).toEqual(pathsOf(saved));
      expect(again.leftOut).toEqual(plan.leftOut.map(({ path }) => ({ path, bytes: null })));
    }),
  );
});

function toFile(path: string, bytes: number): MeasuredEntry {
  return { path, kind: 'file', bytes };
}

function sizeOf(entries: readonly { path: string; text?: string }[], measured: readonly MeasuredEntry[]) {
  const sizes = new Map(measured.map(({ path, bytes }) => [path, bytes]));
  return entries.reduce((sum, { path, text }) => sum + (text?.length ?? sizes.get(path) ?? 0), 0);
}

function pathsOf(entries: readonly { path: string }[]): string[] {
  return entries.map(({ path }) => path).toSorted();
}
