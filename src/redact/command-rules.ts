// Secrets that are given to a program on its command line.
import { type Finding, FOUND, matchAt, type Rule } from './rule.ts';
import { isPlaceholder } from './telling.ts';

/** What a program is called, and what it is given its secret with; the words are its beginning, of which the last four letters shall be rare. */
const COMMANDS: readonly { words: readonly string[]; name: string; option: string; user?: boolean }[] = [
  {
    words: ['curl', 'wget'],
    name: '(?:curl|wget)',
    option: '(?:-[A-Za-z]{0,8}u|--user|--proxy-user)[ =]{0,2}',
    user: true,
  },
  // Of docker, podman, oc, helm registry, az …
  { words: ['login'], name: 'login(?=[ \\t])', option: '-p[ =]{1,2}(?!\\d{1,5}(?![^\\s"\']))' },
  // What a compiler is given beside the folder of a library begins the same.
  {
    words: ['mysql', 'mariadb'],
    name: '(?:mysql|mariadb)[\\w-]{0,16}(?=[ \\t])',
    option: '-p(?!(?:thread|ipe|ie|ic|edantic|ort|rotocol|rint-defaults|lugin-dir)(?!\\w))',
  },
  { words: ['sshp'], name: 'sshpass', option: '-p[ =]{0,2}' },
  { words: ['redis-cli'], name: 'redis-cli', option: '-a[ =]{1,2}' },
  { words: ['mongo'], name: 'mongo(?:sh|dump|restore|export|import)?(?=[ \\t])', option: '-p[ =]{1,2}' },
  { words: ['ldap'], name: 'ldap[a-z]{3,12}(?=[ \\t])', option: '-w[ =]{1,2}' },
  { words: ['keyt', 'jars'], name: '(?:keytool|jarsigner)', option: '-(?:store|key)pass[ =]{1,2}' },
];

/** Unquoted, without what a shell takes for the end of a word. */
const WORD = `[^\\s"'\`;|&<>()${FOUND}]`;

export const COMMAND_RULES: readonly Rule[] = COMMANDS.map(({ words, name, option, user = false }) => {
  const pattern = toPattern(name, option, user);
  return { kind: 'login', words, find: (text, at) => findLogin(pattern, text, at) };
});

/** On the same line, or on those that continue it, and not over the next command, which is looked at for itself. */
function toPattern(name: string, option: string, hasUser: boolean): RegExp {
  const within = `(?:(?!${name})(?:[^\\r\\n${FOUND}]|(?<=\\\\)\\r?\\n)){0,300}?`;
  const user = (sign: string): string => (hasUser ? `${sign}{0,100}:` : '');
  const quoted = `(["'])(${user(`[^"':\\r\\n${FOUND}]`)}[^"'\\r\\n${FOUND}]{3,256})\\1`;
  const plain = `(${user(`[^\\s"':${FOUND}]`)}${WORD}{3,256})`;
  return new RegExp(`${name}${within}(?<=[ \\t])${option}(?:${quoted}|${plain})`, 'y');
}

function findLogin(pattern: RegExp, text: string, at: number): Finding | null {
  // A part of a longer word is no program; a path before it is fine.
  if (/[\w-]/.test(text[at - 1] ?? '')) return null;
  const found = matchAt(pattern, text, at);
  if (!found) return null;
  const [whole, quote = '', quoted, plain] = found;
  const value = quoted ?? plain ?? '';
  if (isPlaceholder(value.slice(value.indexOf(':') + 1))) return null;
  const end = at + whole.length - quote.length;
  return { start: end - value.length, end };
}
