import { expect, test } from 'vitest';
import { makeNoteSafe } from '../../../src/publish/safe-note.ts';
import { redactor } from '../../services/redactor.ts';

const FOOTER = '<sub>Hummingbird · 3 of 3 quotes verified</sub>';
const options = { redact: redactor.text, allowMentions: [], maxBytes: 500 };

test('a note that is too long is cut before its footer', () => {
  const note = makeNoteSafe(`${'A line of the analysis\n'.repeat(100)}\n\n${FOOTER}`, options);
  expect(Buffer.byteLength(note)).toBeLessThanOrEqual(500);
  expect(note).toMatch(
    /^A line[\s\S]*\*The rest was cut: [^\n]*\n\n<sub>Hummingbird · 3 of 3 quotes verified<\/sub>$/,
  );
});

test('a fence that is cut ends before the footer', () => {
  const note = makeNoteSafe(`\`\`\`log\n${'a line\n'.repeat(200)}\`\`\`\n\n${FOOTER}`, options);
  expect(note).toMatch(/\n```\n\n\*The rest was cut[^\n]*\n\n<sub>/);
});

test('a short one stays, and one without a footer is cut at its end', () => {
  expect(makeNoteSafe(`Fine.\n\n${FOOTER}`, options)).toBe(`Fine.\n\n${FOOTER}`);
  expect(makeNoteSafe('x '.repeat(1_000), options)).toMatch(/\*The rest was cut: [^\n]*$/);
});

test('a text that only ends like a footer has no more rights than any other', () => {
  expect(makeNoteSafe('x\n\n<sub>@nadia https://evil.test</sub>', options)).toBe(
    'x\n\n<sub>@\u200bnadia https:\u200b//evil.test</sub>',
  );
});

test.each([
  ['blanks without width', '\u200b'],
  ['signs of direction', '\u202e'],
  ['tags', '\u{e0041}'],
  ['soft hyphens', '\u00ad'],
  ['control characters', '\u0007'],
])('%s within a secret, which nobody sees, do not hide it', (_what, hidden) => {
  const secret = `gl${'pat'}-aB3xK9mQ2vR7tL5wN8pD`;
  const note = makeNoteSafe(`It printed ${[...secret].join(hidden)} there.`, options);
  expect(note).toBe('It printed [redacted: gitlab-token] there.');
});
