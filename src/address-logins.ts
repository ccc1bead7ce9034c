/** Of an address, which may name several hosts: passwords as they are written there, and what they mean. */
export function loginsOf(address: string): { user: string; passwords: string[] } {
  const [, login = ''] = /^[a-z][a-z\d+.-]*:\/\/([^/?#]*)@/i.exec(address) ?? [];
  const [, query = ''] = /\?([^#]*)/.exec(address) ?? [];
  const inQuery = [...new URLSearchParams(query)].filter(([name]) => /password/i.test(name));
  const [, user = login, password = ''] = /^([^:]*):(.*)$/.exec(login) ?? [];
  const all = [password, decode(password), ...inQuery.map(([, value]) => value)];
  return { user, passwords: [...new Set(all.filter((one) => one !== ''))] };
}

function decode(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    // Not percent-encoded, then.
    return text;
  }
}
