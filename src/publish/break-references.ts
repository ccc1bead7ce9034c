// Invisible and without width: stands where two signs must not touch. Entities would not do, for GitLab looks for
// addresses and references once Markdown has been rendered, when an entity is its sign again.
export const NOTHING = '\u200b';

/** Text of a line, with nothing left that GitLab would turn into a link: addresses, and references to its things. */
export function breakReferences(text: string): string {
  return text
    .replaceAll(SCHEME, `$&${NOTHING}`)
    .replaceAll(WWW, `$&${NOTHING}`)
    .replaceAll(REFERENCE, `$&${NOTHING}`);
}

/** Any scheme: GitLab links `ftp:`, `irc:` and those it has never heard of, too. */
const SCHEME = /(?<=[a-z\d+.-])(?:\\?:|&#58;)(?=(?:\\?\/|&#47;){2})/gi;
const WWW = /(?<![\w/])www(?=\\?\.)/gi;

/**
 * Issues, merge requests, epics, snippets, labels, milestones and placeholders, iterations, what stands in brackets
 * (vulnerabilities, contacts, tables of contents), other issues. Some of them leave a note on what they name; and in
 * an analysis they are accidents, such as step #12 of a build.
 */
const REFERENCE = new RegExp(
  [
    '#(?=\\d)(?!(?<=&#)\\d{1,8};)',
    '(?:!|&#33;)(?=\\d)',
    '&(?:amp;)?(?=\\d)',
    '&#36;',
    '(?:~|&#126;)(?=[\\w"&])',
    '%(?=[\\w"{&])',
    '\\*(?=iteration:)',
    '(?:\\[|&#91;)(?=[a-z_]{1,30}:\\S|_?TOC_?\\])',
    '\\bGL(?=-\\d)',
  ].join('|'),
  'gi',
);
