// What the environment holds beside the variables that the configuration names: libraries read some of it by themselves.
import { loginsOf } from '../address-logins.ts';
import { isTellingName, looksSecret } from './telling.ts';

/** Values of variables, and of fields of JSON in them, whose names tell; and the logins in addresses, as of a proxy. */
export function findEnvironmentSecrets(environment: ReadonlyMap<string, string>): string[] {
  return [...environment].flatMap(([name, value]) => {
    if (/^[a-z][a-z\d+.-]*:\/\//i.test(value)) return ofAddress(name, value);
    if (value.startsWith('{')) return ofFields(parse(value));
    return ofNamed(name, value);
  });
}

function ofNamed(name: string, value: string): string[] {
  return isTellingName(name) && looksSecret(name, value) ? [value] : [];
}

/** Without a password, the user's name is the login. That of a proxy is ours, however plain it is. */
function ofAddress(name: string, address: string): string[] {
  const { user, passwords } = loginsOf(address);
  const isOurs = /_proxy$/i.test(name);
  const secrets = passwords.filter((one) => isOurs || looksSecret('password', one));
  return passwords.length === 0 && looksSecret('token', user) ? [user] : secrets;
}

function ofFields(value: unknown): string[] {
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([name, inner]) =>
    typeof inner === 'string' ? ofNamed(name, inner) : ofFields(inner),
  );
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    // It only begins like it.
    return null;
  }
}
