import { anthropic } from './anthropic.ts';
import { gemini } from './gemini.ts';
import { openai } from './openai.ts';
import type { Provider } from './provider.ts';

export const providers: Provider[] = [anthropic, gemini, openai];
