// What Google's library sends and is answered on its way to a token, it shows to nobody; its HTTP client does.
import { gaxios } from 'google-auth-library';

/** Hears each secret of a login before it is sent, and of each answer before it is used. */
export function watchExchanges(login: object, onSecrets: (secrets: readonly string[]) => void): void {
  for (const { interceptors } of findClients(login)) {
    interceptors.request.add({
      resolved: async (request) => {
        onSecrets([...ofHeaders(request.headers), ...ofFields(toFields(request.data))]);
        return request;
      },
    });
    interceptors.response.add({
      resolved: async (response) => {
        onSecrets(ofFields(response.data));
        return response;
      },
    });
  }
}

/** One exchange may be made by an object within another: of a pod's identity, of an account that is impersonated. */
function findClients(login: object, seen: Set<object> = new Set()): gaxios.Gaxios[] {
  if (seen.has(login)) return [];
  seen.add(login);
  if (login instanceof gaxios.Gaxios) return [login];
  return Object.values(login)
    .filter((inner): inner is object => typeof inner === 'object' && inner !== null)
    .flatMap((inner) => findClients(inner, seen));
}

function ofHeaders(headers: Headers): string[] {
  return [...headers]
    .filter(([name]) => /authorization$/i.test(name) || SECRET.test(name))
    .map(([, value]) => value.replace(/^(?:Bearer|Basic) /i, ''));
}

/** A request to AWS in JSON is as good as a token, but most of it stands in others as well; its signature is within. */
function ofFields(value: unknown): string[] {
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([name, inner]) => {
    if (typeof inner !== 'string') return ofFields(inner);
    return SECRET.test(name) && !/^(?:\{|%7B)/.test(inner) ? [inner] : [];
  });
}

/** As in `subject_token`, `accessToken`, `assertion`, `client_secret`, `SecretAccessKey`; not `subject_token_type`. */
const SECRET = /(?:token|assertion|secret|key)$/i;

function toFields(data: unknown): unknown {
  if (data instanceof URLSearchParams) return Object.fromEntries(data);
  return typeof data === 'string' ? Object.fromEntries(new URLSearchParams(data)) : data;
}
