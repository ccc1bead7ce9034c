/** Of JSON, every text and every name of a key. The same value when nothing was to be removed. */
export function redactValue<T>(
  value: T,
  text: (text: string) => string,
  named: (name: string, value: string) => string,
): T {
  const redact = (one: unknown, name: string): unknown => {
    if (typeof one === 'string') return name === '' ? text(one) : named(name, one);
    if (Array.isArray(one))
      return keepSame(
        one,
        one.map((item) => redact(item, name)),
      );
    if (one === null || typeof one !== 'object') return one;
    return redactObject(one as Record<string, unknown>);
  };

  function redactObject(object: Record<string, unknown>): Record<string, unknown> {
    let isSame = true;
    const entries = Object.entries(object).map(([key, inner]): [string, unknown] => {
      // A variable in a list: { name: 'DB_PASSWORD', value: '…' }.
      const name = key === 'value' ? nameOf(object) : key;
      const changed: [string, unknown] = [text(key), redact(inner, name)];
      isSame &&= changed[0] === key && changed[1] === inner;
      return changed;
    });
    return isSame ? object : Object.fromEntries(entries);
  }

  return redact(value, '') as T;
}

function nameOf(variable: Record<string, unknown>): string {
  const name = variable.name ?? variable.key;
  return typeof name === 'string' ? name : 'value';
}

function keepSame(before: unknown[], after: unknown[]): unknown[] {
  return after.every((item, index) => item === before[index]) ? before : after;
}
