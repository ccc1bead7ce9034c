// What of a kubeconfig, and of what its logins obtain, is nobody's to know.
import type { RequestOptions } from 'node:https';
import type { User } from '@kubernetes/client-node';

/** Of the file: also of users that are not asked as. Programs that log in may get secrets as variables and options. */
export function toGivenSecrets({ token, password, keyData, authProvider, exec }: User): string[] {
  const key = keyData ? Buffer.from(keyData, 'base64').toString() : '';
  const named = [
    ...Object.entries({ ...authProvider?.config }),
    ...toList(exec?.env).map((variable) => [toText(variable?.name), variable?.value] as const),
    ...toOptions(toList(exec?.args).map(toText)),
  ];
  const telling = named.filter(([name]) => TELLING.test(name)).map(([, value]) => toText(value));
  return [toText(token), toText(password), key, ...telling].map((one) => one.trim()).filter(Boolean);
}

const TELLING = /(?:token|secret|password|passphrase|access[_-]?key|api[_-]?key)(?:[_-]id)?$/i;

/** Of one login: what is sent, and the key of a certificate. */
export function toObtainedSecrets({ headers, auth, key, passphrase }: RequestOptions): string[] {
  const sent = Object.entries(headers ?? {}).flatMap(([name, value]) =>
    /^authorization$/i.test(name) ? [toText(value).replace(/^\S+\s+/, '')] : [],
  );
  const password = auth?.slice(auth.indexOf(':') + 1);
  const keys = [key].flat().map((one) => (Buffer.isBuffer(one) ? one.toString() : toText(one)));
  return [...sent, toText(password), toText(passphrase), ...keys].map((one) => one.trim()).filter(Boolean);
}

/** `--client-secret=…` and `--client-secret …`; a command such as `get-token` and what follows it are no secret. */
function toOptions(args: string[]): [string, string][] {
  return args.flatMap((arg, index): [string, string][] => {
    if (!arg.startsWith('-')) return [];
    const at = arg.indexOf('=');
    if (at !== -1) return [[arg.slice(0, at), arg.slice(at + 1)]];
    const next = args[index + 1] ?? '';
    return next.startsWith('-') ? [] : [[arg, next]];
  });
}

function toList(value: unknown): { name?: unknown; value?: unknown }[] {
  return Array.isArray(value) ? value : [];
}

function toText(value: unknown): string {
  return typeof value === 'string' ? value : '';
}
