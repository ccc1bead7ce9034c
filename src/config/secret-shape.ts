/** Whether a text has the unmistakable shape of a credential. Guesses only where a mistake is very unlikely. */
export function looksLikeSecret(text: string): boolean {
  return shapes.some((shape) => shape.test(text));
}

const shapes = [
  /\bgl(?:pat|dt|rt|cbt|ptt|ft|soat|imt|agent|oas)-[\w-]{8,}/,
  /\bwhsec_[\w+/=-]{8,}/,
  /\bsk-[\w-]{16,}/,
  /\bAIza[\w-]{20,}/,
  /\bgh[pousr]_\w{20,}/,
  /\bsha256~[\w-]{20,}/,
  /\beyJ[\w-]{8,}\.eyJ[\w-]{8,}/,
  /-----BEGIN [A-Z ]*PRIVATE KEY-----/,
];
