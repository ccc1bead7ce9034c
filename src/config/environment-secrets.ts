// What the environment holds beside the variables that the configuration names: libraries read some of it by themselves.

/** Values of variables whose names tell, and the logins in addresses, as of a proxy. */
export function findEnvironmentSecrets(env: NodeJS.ProcessEnv): string[] {
  return Object.entries(env).flatMap(([name, value = '']) => {
    const told = TELLING.test(name) && !isPath(value) ? [value.trim()] : [];
    const inAddress = /^[a-z][a-z\d+.-]*:\/\//i.test(value) ? passwordsOf(value) : [];
    return [...told, ...inAddress].filter((one) => !isWord(one));
  });
}

const TELLING = /(?:TOKEN|SECRET|PASSWORD|PASSWD|PASSPHRASE|APIKEY|_PWD|_PAT|(?<!PUBLIC)_KEY)$/i;

const MIN_CHARS = 8;
const MIN_DIFFERENT_CHARS = 6;
const MAX_WORD_CHARS = 24;

/** What is no secret, whatever its name says: `production` or `true` would be missed in every log. */
export function isWord(value: string): boolean {
  if (value.length < MIN_CHARS || new Set(value).size < MIN_DIFFERENT_CHARS) return true;
  return (
    value.length < MAX_WORD_CHARS &&
    /^(?:[A-Z]?[a-z]+|[A-Z]+)(?:[ _.-]?[A-Z]?[a-z]+|[ _.-][A-Z]+)*$/.test(value)
  );
}

function isPath(value: string): boolean {
  return /^(?:~|\.{1,2})?(?:\/[\w.-]+){2,}\/?$/.test(value);
}

/** Of an address, which may name several hosts: as they are written there, and what they mean. */
export function passwordsOf(address: string): string[] {
  const [, login = ''] = /^[a-z][a-z\d+.-]*:\/\/([^/?#]*)@/i.exec(address) ?? [];
  const [, query = ''] = /\?([^#]*)/.exec(address) ?? [];
  const inQuery = [...new URLSearchParams(query)].filter(([name]) => /password/i.test(name));
  const password = login.includes(':') ? login.slice(login.indexOf(':') + 1) : '';
  return [password, decode(password), ...inQuery.map(([, value]) => value)];
}

function decode(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    // Not percent-encoded, then.
    return text;
  }
}
