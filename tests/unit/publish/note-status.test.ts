import fc from 'fast-check';
import { expect, test } from 'vitest';
import { type NoteStatus, withoutStatus, withStatus } from '../../../src/publish/note-status.ts';
import { makeSafe } from '../../../src/publish/safe-text.ts';

const OUTDATED: NoteStatus = { kind: 'outdated', sha: 'a'.repeat(40) };
const PASSED: NoteStatus = {
  kind: 'passed',
  pipeline: { id: 12, webUrl: 'https://gitlab.test/p/-/pipelines/12' },
};
const FAILED: NoteStatus = { kind: 'failed', words: 'It could not be finished.' };

test('an outdated or passed analysis is folded below one line, a failed update leaves it open', () => {
  expect(withStatus('Found.', OUTDATED)).toBe(
    '> ⏩ **Outdated:** the new commit `aaaaaaaaaaaa` was pushed after this analysis.\n\n<!-- hummingbird:folded -->\n\n' +
      '<details>\n<summary>The analysis as it was</summary>\n\nFound.\n\n</details>',
  );
  expect(withStatus('Found.', PASSED)).toContain('[pipeline 12](https://gitlab.test/p/-/pipelines/12)');
  expect(withStatus('Found.', FAILED)).toMatch(/finished\.\n\n<!-- hummingbird:status -->\n\nFound\.$/);
  expect(withStatus('', FAILED)).toBe('> ⚠️ It could not be finished.\n\n<!-- hummingbird:status -->');
});

test('a link that is none is not made one', () => {
  const pipeline = { id: 12, webUrl: 'javascript:alert(1)' };
  expect(withStatus('Found.', { kind: 'passed', pipeline })).toContain('**Passed on retry:** pipeline 12 of');
});

test('whatever the text, a status replaces the one before, and none is taken off for no reason', () => {
  const text = fc.oneof(
    fc.string(),
    fc.constantFrom('> quote\n\n<!-- hummingbird:folded -->\n\nx', '</details>'),
  );
  const status = fc.constantFrom(OUTDATED, PASSED, FAILED);
  fc.assert(
    fc.property(text, fc.array(status, { minLength: 1 }), (raw, statuses) => {
      const safe = makeSafe(raw, { maxBytes: 1_000, allowMentions: [] });
      const last = statuses.at(-1) ?? OUTDATED;
      const marked = statuses.reduce((before, one) => withStatus(before, one), safe);
      expect(marked).toBe(withStatus(safe, last));
      expect(withoutStatus(marked)).toBe(safe);
      expect(withoutStatus(safe)).toBe(safe);
    }),
  );
});
