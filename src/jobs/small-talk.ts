const MAX_CHARS = 80;

const THANKS = [
  'thank (?:you|u)',
  'thanks?',
  'thx',
  'ty',
  'cheers',
  'merci',
  'danke',
  'dank je',
  'bedankt',
  'gracias',
  'grazie',
  'obrigad[oa]',
  'спасибо',
  'dziękuję',
  'dzięki',
  'tack',
  'ありがとう',
  '谢谢',
];
const KIND_WORDS = [
  'ok(?:ay)?',
  'great',
  'nice',
  'cool',
  'perfect',
  'awesome',
  'good (?:job|catch|find|bot)',
  'well done',
  'lgtm',
  'got it',
  'makes sense',
  'super',
  'indeed',
  'will (?:do|fix)',
  '(?:a lot|so much|very much|for (?:the |your )?(?:help|info|analysis|quick reply))',
];

const WORD = new RegExp(`^(?:${[...THANKS, ...KIND_WORDS].join('|')})(?![\\p{L}\\p{N}])`, 'iu');
const SIGN =
  /^(?:\p{RGI_Emoji}|\p{Extended_Pictographic}|\p{Emoji_Modifier}|\u200d|\ufe0f|:[a-z0-9_+\-]+:|[\s.,!;:\)\(*_\-])+/iv;

/** Thanks, praise or a lone emoji: it asks for nothing, so nothing needs to be looked into. */
export function isSmallTalk(text: string, agentName: string): boolean {
  let rest = text.toLowerCase().replaceAll(`@${agentName.toLowerCase()}`, ' ').trim();
  if (rest.length > MAX_CHARS) return false;
  // Word by word from the front: whatever is left over asks for something.
  while (rest !== '') {
    const [part = ''] = SIGN.exec(rest) ?? WORD.exec(rest) ?? [];
    if (part === '') return false;
    rest = rest.slice(part.length);
  }
  return text.trim() !== '';
}
