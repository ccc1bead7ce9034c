// What models cost as their vendors' documentation says, in November 2026. A limit must hold, so where a vendor has
// several prices this is the highest that can apply: that of long prompts (OpenAI above 272k tokens, Gemini Pro above
// 200k, Claude Haiku 5.5 above 100k), and a price that is announced rather than an introductory one (Gemini 3.7 Flash,
// 3.8 Flash and 4). Whoever knows better overrides it under models.prices. Names that mean another model from time to
// time (gemini-flash-latest) and models without a documented price are not here.

export type Price = { input: number; output: number; cacheRead: number; cacheWrite: number };

/** Input, output, cache read, cache write; in USD per million tokens. */
type Row = readonly [number, number, number, number];

const rows: Record<string, Row> = {
  // https://platform.claude.com/docs/en/about-claude/pricing, with caches of 5 minutes: no others are asked for.
  'claude-fable-5-2': [8, 40, 0.2, 10],
  'claude-fable-5-1': [10, 50, 0.25, 12.5],
  'claude-mythos-5-1': [10, 50, 0.25, 12.5],
  'claude-fable-5': [10, 50, 1, 12.5],
  'claude-mythos-5': [10, 50, 1, 12.5],
  'claude-opus-5-5': [4, 20, 0.2, 5],
  'claude-opus-5': [5, 25, 0.5, 6.25],
  'claude-opus-4-8': [5, 25, 0.5, 6.25],
  'claude-opus-4-7': [5, 25, 0.5, 6.25],
  'claude-opus-4-6': [5, 25, 0.5, 6.25],
  'claude-opus-4-5': [5, 25, 0.5, 6.25],
  'claude-sonnet-5-5': [2, 10, 0.1, 2.5],
  'claude-sonnet-5': [2, 10, 0.2, 2.5],
  'claude-sonnet-4-6': [3, 15, 0.3, 3.75],
  'claude-sonnet-4-5': [3, 15, 0.3, 3.75],
  'claude-haiku-5-5': [0.5, 2.5, 0.05, 0.625],
  'claude-haiku-4-5': [1, 5, 0.1, 1.25],

  // https://ai.google.dev/gemini-api/docs/pricing; writing to the cache costs nothing beside the input.
  'gemini-4-carbon': [4, 20, 0.2, 4],
  'gemini-4-argon': [4, 20, 0.2, 4],
  'gemini-3.8-flash': [1.5, 7.5, 0.15, 1.5],
  'gemini-3.7-flash': [1.5, 7.5, 0.15, 1.5],
  'gemini-3.6-flash': [1.5, 7.5, 0.15, 1.5],
  'gemini-3.5-flash': [1.5, 9, 0.15, 1.5],
  'gemini-3.5-flash-lite': [0.3, 2.5, 0.03, 0.3],
  'gemini-3.1-pro-preview': [4, 18, 0.4, 4],
  'gemini-3.1-pro-preview-customtools': [4, 18, 0.4, 4],
  'gemini-3.1-flash-lite': [0.25, 1.5, 0.025, 0.25],
  'gemini-3-flash-preview': [0.5, 3, 0.05, 0.5],
  'gemini-2.5-pro': [2.5, 15, 0.25, 2.5],
  'gemini-2.5-flash': [0.3, 2.5, 0.03, 0.3],
  'gemini-2.5-flash-lite': [0.1, 0.4, 0.01, 0.1],

  // https://developers.openai.com/api/docs/pricing; until GPT-5.5 writing to the cache costs nothing beside the input.
  'gpt-6-astra': [20, 75, 2, 25],
  'gpt-6.1-sol': [4, 15, 0.2, 5],
  'gpt-6.1-terra': [2, 7.5, 0.1, 2.5],
  'gpt-6-sol': [4, 15, 0.4, 5],
  'gpt-6-luna': [0.2, 0.75, 0.02, 0.25],
  'gpt-5.6-sol': [8, 30, 0.8, 10],
  'gpt-5.6-terra': [4, 18, 0.4, 5],
  'gpt-5.6-luna': [0.4, 1.8, 0.04, 0.5],
  'gpt-5.5': [10, 45, 1, 10],
  'gpt-5.4': [5, 22.5, 0.5, 5],
  'gpt-5.4-mini': [0.75, 4.5, 0.075, 0.75],
  'gpt-5.4-nano': [0.2, 1.25, 0.02, 0.2],
  'gpt-5.3-chat-latest': [1.75, 14, 0.175, 1.75],
  'gpt-5.2': [1.75, 14, 0.175, 1.75],
  'gpt-5.2-chat-latest': [1.75, 14, 0.175, 1.75],
  'gpt-5.2-pro': [21, 168, 21, 21],
  'gpt-5.1': [1.25, 10, 0.125, 1.25],
  'gpt-5.1-codex': [1.25, 10, 0.125, 1.25],
  'gpt-5.1-chat-latest': [1.25, 10, 0.125, 1.25],
  'gpt-5': [1.25, 10, 0.125, 1.25],
  'gpt-5-chat-latest': [1.25, 10, 0.125, 1.25],
  'gpt-5-mini': [0.25, 2, 0.025, 0.25],
  'gpt-5-nano': [0.05, 0.4, 0.005, 0.05],
  'gpt-4.1': [2, 8, 0.5, 2],
  'gpt-4.1-mini': [0.4, 1.6, 0.1, 0.4],
  'gpt-4.1-nano': [0.1, 0.4, 0.025, 0.1],
  o3: [2, 8, 0.5, 2],
  'o4-mini': [1.1, 4.4, 0.275, 1.1],
};

export const defaultPrices: Readonly<Record<string, Price>> = Object.fromEntries(
  Object.entries(rows).map(([model, [input, output, cacheRead, cacheWrite]]) => [
    model,
    { input, output, cacheRead, cacheWrite },
  ]),
);
