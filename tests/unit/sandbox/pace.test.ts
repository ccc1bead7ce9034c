import { expect, test } from 'vitest';
import { createPace } from '../../../src/sandbox/virtual/pace.ts';

test('so many go at once, then one whenever its time has come', () => {
  let nowMs = 0;
  const mayGo = createPace({ burst: 3, perMs: 0.5 }, () => nowMs);
  expect([mayGo(), mayGo(), mayGo(), mayGo()]).toEqual([true, true, true, false]);
  nowMs += 1;
  expect(mayGo()).toBe(false);
  nowMs += 1;
  expect([mayGo(), mayGo()]).toEqual([true, false]);
});

test('a long pause gives no more than the first time', () => {
  let nowMs = 0;
  const mayGo = createPace({ burst: 2, perMs: 0.5 }, () => nowMs);
  mayGo();
  nowMs += 60_000;
  expect([mayGo(), mayGo(), mayGo()]).toEqual([true, true, false]);
});
