import { randomBytes } from 'node:crypto';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { PermanentError } from '../../../src/errors.ts';
import { createMarkers } from '../../../src/publish/marker.ts';

const HERE = { projectId: 7, mrIid: 3 };
const KEY = randomBytes(32);
const markers = createMarkers([KEY]);
const ANALYSIS = { kind: 'analysis', sessionId: 's-1' } as const;
const REPLY = { kind: 'reply', sessionId: 's-1', replyTo: 4_000_001 } as const;

test.each([ANALYSIS, REPLY])('a written marker of kind $kind is read back', (marker) => {
  const written = markers.write({ ...marker, ...HERE });
  expect(written).toMatch(/^<!-- hummingbird:1 kind=\w+ session=s-1( reply-to=4000001)? sig=[\w-]{22} -->$/);
  expect(markers.read(`Text\n\n${written}\n`, HERE)).toEqual(marker);
});

test.each([
  ['another merge request', { ...HERE, mrIid: 4 }],
  ['another project', { ...HERE, projectId: 8 }],
])('a marker copied to %s is not believed', (_where, place) => {
  expect(markers.read(markers.write({ ...ANALYSIS, ...HERE }), place)).toBeNull();
});

test('a key stays believed until it is taken out', () => {
  const newKey = randomBytes(32);
  const old = markers.write({ ...ANALYSIS, ...HERE });
  const rotating = createMarkers([newKey, KEY]);

  expect(rotating.read(old, HERE)).toEqual(ANALYSIS);
  expect(createMarkers([newKey]).read(rotating.write({ ...ANALYSIS, ...HERE }), HERE)).toEqual(ANALYSIS);
  expect(createMarkers([newKey]).read(old, HERE)).toBeNull();
});

const WRITTEN = markers.write({ ...REPLY, ...HERE });
test.each([
  ['nothing', ''],
  ['text after it', `${WRITTEN} and more`],
  ['another comment after it', `${WRITTEN}\n<!-- x -->`],
  ['another session', WRITTEN.replace('s-1', 's-2')],
  ['another kind', WRITTEN.replace('kind=reply', 'kind=analysis')],
  ['another note', WRITTEN.replace('4000001', '4000002')],
  ['no note', WRITTEN.replace(' reply-to=4000001', '')],
  ['a cut signature', WRITTEN.replace(/.{3} -->$/, ' -->')],
  ['no signature', WRITTEN.replace(/ sig=\S+/, '')],
  ['signs outside of ASCII', WRITTEN.replace(/sig=.{22}/, `sig=${'é'.repeat(22)}`)],
])('with %s there is no marker', (_what, body) => {
  expect(markers.read(body, HERE)).toBeNull();
});

test('any change of one sign is noticed', () => {
  const index = fc.nat(WRITTEN.length - 1);
  const sign = fc.string({ minLength: 1, maxLength: 1, unit: 'binary-ascii' });
  fc.assert(
    fc.property(index, sign, (at, other) => {
      fc.pre(WRITTEN[at] !== other);
      expect(markers.read(`${WRITTEN.slice(0, at)}${other}${WRITTEN.slice(at + 1)}`, HERE)).toBeNull();
    }),
  );
});

test('what can not be written safely is refused', () => {
  expect(() => markers.write({ ...ANALYSIS, ...HERE, sessionId: 'a --> b' })).toThrow(PermanentError);
  expect(() => createMarkers([])).toThrow(PermanentError);
  expect(() => createMarkers([KEY, Buffer.alloc(0)])).toThrow(PermanentError);
});
