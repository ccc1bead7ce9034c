// Half a character is none, and some providers refuse it.

export function cutEnd(text: string, maxChars: number): string {
  return text.length <= maxChars ? text : `${text.slice(0, maxChars)}…`.toWellFormed();
}

export function cutMiddle(text: string, maxChars: number): string {
  if (text.length <= maxChars) return text;
  const half = Math.floor(maxChars / 2);
  const left = text.length - 2 * half;
  return `${text.slice(0, half)}\n[… ${left} characters …]\n${text.slice(text.length - half)}`.toWellFormed();
}
