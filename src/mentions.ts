/** Whether the text calls this user by name, as GitLab would read it. */
export function mentions(text: string, username: string): boolean {
  const names = text.matchAll(/(?:^|[^\w.@/-])@([\w.-]+)/g);
  return names.some(([, name = '']) => name.replace(/[.-]+$/, '').toLowerCase() === username.toLowerCase());
}
