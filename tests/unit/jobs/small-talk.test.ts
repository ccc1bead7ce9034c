import { expect, test } from 'vitest';
import { isSmallTalk } from '../../../src/jobs/small-talk.ts';

test.each([
  'Thanks!',
  'thank you so much 🙏',
  '@hummingbird thanks, good catch!',
  'Thanks @Hummingbird!',
  '👍',
  '🇩🇰',
  '🏴󠁧󠁢󠁥󠁮󠁧󠁿',
  '1️⃣',
  ':tada: :+1:',
  '👩🏽‍💻❤️',
  'Ok, will fix.',
  'Merci !',
  'LGTM',
  'Perfect, thanks for the help',
])('%s asks for nothing', (text) => {
  expect(isSmallTalk(text, 'hummingbird')).toBe(true);
});

test.each([
  'Thanks, but is the e2e failure the same?',
  'ok?',
  'Thanks. Look at the clair-scan timeout more closely',
  'Great, now do it for the other job',
  'why',
  'no',
  '42',
  'okapi',
  'Thanks '.repeat(40),
  '',
])('%j is for the agent to look into', (text) => {
  expect(isSmallTalk(text, 'hummingbird')).toBe(false);
});
