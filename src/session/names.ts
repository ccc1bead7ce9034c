// Telling sessions from what others keep in the same folder or bucket: only ours may be listed and deleted.

const UUID = '[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}';
const ASIDE = '(?:\\.\\d+\\.(?:bad|old))?';
/** What a session is called while it is being removed. */
const GONE = `(?:\\.${UUID}\\.tmp)`;
const NAME = new RegExp(`^[A-Za-z0-9-]{1,64}${ASIDE}${GONE}*$`);
const OWN_NAME = new RegExp(`^${UUID}${ASIDE}$`);
const GONE_NAME = new RegExp(`${GONE}$`);
const OBJECT =
  /^(?:context\.json|context\.lock|meta\.json|sandbox\.tar\.gz|transcript\.jsonl|(?:transcript|files|history)\/.*)$/;
const DRAFT = /\.[^./]+\.tmp$/;

/** Of a session, one that was set aside, or what is left of one. */
export function isName(name: string): boolean {
  return NAME.test(name);
}

/** Whether what lies under the name is a session; an id as only we make it may have lost its conversation. */
export function isSession(name: string, keys: readonly string[]): boolean {
  if (GONE_NAME.test(name)) return false;
  const isSaved = keys.includes('context.json') || keys.includes('meta.json');
  return isSaved || (OWN_NAME.test(name) && keys.some((key) => OBJECT.test(key)));
}

/** Whether there is nothing but what a broken-off saving or removal has left; empty folders are keys that end in `/`. */
export function isLeftover(name: string, keys: readonly string[]): boolean {
  if (!keys.every(isOurs)) return false;
  if (GONE_NAME.test(name)) return true;
  // Empty folders may be anybody's.
  return keys.every(isUnfinished) && (OWN_NAME.test(name) || keys.some((key) => DRAFT.test(key)));
}

function isOurs(key: string): boolean {
  return key === '' || OBJECT.test(key.replace(DRAFT, ''));
}

function isUnfinished(key: string): boolean {
  return key === '' || key === 'context.lock' || key.endsWith('/') || DRAFT.test(key);
}
